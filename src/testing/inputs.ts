import type { NounDescription } from '../nouns.js';

/** Values of fields, as variables of GraphQL: a 64-bit integer is text of its digits. */
export type Values = Readonly<Record<string, unknown>>;

type Fields = Pick<NounDescription, 'fields'>;

/** JSON for REST: the digits of 64-bit integers become numbers, of any size. */
export function restBody({ fields }: Fields, input: Values): string {
  const isInt64 = (name: string) => fields.some((field) => field.name === name && field.kind === 'int64');
  const members = Object.entries(input).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const isNumber = isInt64(name) && /^-?\d+(\.\d+)?$/.test(String(value));
    return [`${JSON.stringify(name)}:${isNumber ? value : JSON.stringify(value)}`];
  });
  return `{${members.join()}}`;
}

/** The input as a literal in a document of GraphQL, such as `{name: "Rex", categoryId: 3, status: sold}`. */
export function literal({ fields }: Fields, input: Values): string {
  const isBare = (name: string) =>
    fields.some((field) => field.name === name && /choice|int64/.test(field.kind));
  const members = Object.entries(input).map(
    ([name, value]) => `${name}: ${isBare(name) ? value : JSON.stringify(value)}`,
  );
  return `{${members.join(', ')}}`;
}

/** Without undefined values, and with each bigint as text of its digits. */
export function plain(values: Values): Values {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]),
  );
}
