import { type ColumnOptions, PrimaryColumn, type ValueTransformer } from 'typeorm';
import { sortableDecimal } from '../kernel/decimals.js';

/** The value that most columns store. */
export function unchanged(value: unknown): unknown {
  return value;
}

/** The MySQL driver returns 64-bit integers as text, the SQLite driver as bigint. In the code, ids are always bigint. */
const int64 = {
  to: unchanged,
  from: (value: string | number | bigint | null) => (value === null ? null : BigInt(value)),
};

const number = { to: unchanged, from: numberFrom };

export const ID = { type: 'bigint', transformer: int64 } satisfies ColumnOptions;
/** Milliseconds since 1970: no time zone of a driver or a server can shift it. */
export const TIME_MS = { type: 'bigint', transformer: number } satisfies ColumnOptions;
/** A count that may outgrow 32 bits, of rows or bytes; exact up to 2^53. */
export const COUNT = { type: 'bigint', transformer: number } satisfies ColumnOptions;
export const INTEGER = { type: 'int', transformer: number } satisfies ColumnOptions;
/** Stored as 0 or 1. */
export const BOOLEAN = {
  type: 'int',
  transformer: {
    to: (value: boolean | undefined) => (value === undefined ? undefined : Number(value)),
    from: booleanFrom,
  },
} satisfies ColumnOptions;

/** SQLite has no exact decimal: it keeps a text that sorts as the number. */
export function onSqlite<C extends ColumnOptions>(column: C): C {
  if (column.type !== 'decimal') return column;
  const { from } = column.transformer as ValueTransformer;
  const to = (value: unknown) => (value == null ? value : sortableDecimal(String(value)));
  return { ...column, type: 'varchar', transformer: { to, from } };
}

/** A value that is stored as JSON text; null stays null. */
export const json = <T>() =>
  ({
    type: 'text',
    transformer: {
      to: (value: T | null | undefined) => value && JSON.stringify(value),
      from: (value: string | null) => (value === null ? null : (JSON.parse(value) as T)),
    },
  }) satisfies ColumnOptions;

export const text = (length: number) => ({ type: 'varchar', length }) satisfies ColumnOptions;

/** A boolean in the form of either driver, for SQL that TypeORM does not map. */
export function booleanFrom(value: string | number | bigint): boolean {
  return Number(value) === 1;
}

/** A number in the form of either driver. */
export function numberFrom(value: string | number | bigint | null): number | null {
  return value === null ? null : Number(value);
}

/** The rows of a project are one range of their table's clustered index, and on one shard. D-3. */
export abstract class ProjectOwned {
  @PrimaryColumn({ ...ID, name: 'project_id' })
  projectId!: bigint;
}
