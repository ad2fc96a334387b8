import { parse, parseNumberAndBigInt, stringify } from 'lossless-json';

/** JSON whose integers are bigint, digit for digit. */
export const readExactly = (text: string): unknown => parse(text, null, parseNumberAndBigInt);

/** JSON that keeps each digit of a bigint. */
export const writeExactly = (value: unknown): string => stringify(value) ?? '';
