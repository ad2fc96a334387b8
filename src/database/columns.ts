import type { ColumnOptions } from 'typeorm';

/** Both drivers hand out 64-bit integers in their own way, MySQL as text, SQLite as bigint: ids are bigint everywhere else. */
const int64 = {
  to: (value: unknown) => value,
  from: (value: string | number | bigint | null) => (value === null ? null : BigInt(value)),
};

const number = { to: (value: unknown) => value, from: numberFrom };

export const ID = { type: 'bigint', transformer: int64 } satisfies ColumnOptions;
/** Milliseconds since 1970: no time zone of a driver or a server can shift it. */
export const TIME_MS = { type: 'bigint', transformer: number } satisfies ColumnOptions;
/** A count that may outgrow 32 bits, of rows or bytes; exact up to 2^53. */
export const COUNT = { type: 'bigint', transformer: number } satisfies ColumnOptions;
export const INTEGER = { type: 'int', transformer: number } satisfies ColumnOptions;

export const text = (length: number) => ({ type: 'varchar', length }) satisfies ColumnOptions;

/** A number as either driver hands it out. */
export function numberFrom(value: string | number | bigint | null): number | null {
  return value === null ? null : Number(value);
}
