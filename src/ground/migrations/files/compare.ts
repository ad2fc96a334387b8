import type { Table, TableColumn, TableColumnOptions, TableIndexOptions, TableOptions } from 'typeorm';
import { plainDecimal } from '../../kernel/decimals.js';
import type { TableChange } from '../table-changes.js';

/** The difference between a table and its definition. */
export interface TableDifference {
  readonly table: TableOptions & { readonly filledFrom?: string };
  /** null = the table is new, or dropped. */
  readonly changes: readonly TableChange[] | null;
  /** The table is filled from another one, and no definition has it so. */
  readonly isDropped?: boolean;
  /** The columns that differ, in the order of the definition. */
  readonly columns: readonly string[];
  /** A sentence for each change that deletes values. */
  readonly losses: readonly string[];
  /** A sentence for each change that cannot be made. */
  readonly problems: readonly string[];
  /** A sentence for each field that could be another one with a new name. */
  readonly hints: readonly string[];
}

/** A field of a table, as columns. */
export interface Rename {
  readonly table: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Compares a table with its definition; null = they agree. A default is no difference: the platform states every value of a
 * new record. An index that the platform would not name so is somebody's own and stays, such as `report_books`.
 */
export function differenceOf(
  before: Table | undefined,
  after: TableOptions,
  renames: readonly Rename[] = [],
): TableDifference | null {
  const wanted = (after.columns ?? []).map(plain);
  const table = { ...after, columns: wanted, indices: (after.indices ?? []).map(plainIndex) };
  if (!before) return { table, changes: null, columns: [], losses: [], problems: [], hints: [] };
  const names = new Map(renames.map(({ from, to }) => [from, to]));
  // By the names that they have now.
  const had = new Map(before.columns.map((column) => [names.get(column.name) ?? column.name, plain(column)]));
  const steps: TableChange[] = [];
  const losses: string[] = [];
  const problems: string[] = wrongRenames(before, after, renames);
  const columns = new Set<string>();
  const add = (column: TableColumnOptions) => {
    steps.push({ addColumn: column });
    if (column.isNullable || column.default !== undefined) return;
    problems.push(
      `${fieldOf(after, column)} is required, and records that exist have no value for it. Make it optional, or give it a \`default\`.`,
    );
  };
  for (const column of wanted) {
    const from = had.get(column.name);
    had.delete(column.name);
    if (from && isSame(from, column) && from.name === column.name) continue;
    columns.add(column.name);
    if (from?.isPrimary || column.isPrimary) {
      problems.push(
        `${column.name} of ${after.name} is a part of the primary key. Write this migration by hand.`,
      );
    } else if (!from) {
      add(column);
    } else if (column.type === 'decimal' && from.type === 'decimal' && hasFewerDigits(from, column)) {
      problems.push(
        `${fieldOf(after, column)} gets fewer digits, and its values may have more. Make another field, or write this migration by hand.`,
      );
    } else if (keepsValues(from, column)) {
      steps.push({ changeColumn: column, from });
      if (widthOf(column) >= widthOf(from)) continue;
      losses.push(
        `${fieldOf(after, column)} gets shorter, from ${from.length} to ${column.length} characters: longer values are cut.`,
      );
    } else {
      steps.push({ dropColumn: from });
      losses.push(
        `${fieldOf(after, column)} changes from ${from.type} to ${column.type}: its values are deleted. ${undone(before, from)}`,
      );
      add(column);
    }
  }
  const hints: string[] = [];
  for (const column of had.values()) {
    columns.add(column.name);
    for (const step of steps) {
      if (!('addColumn' in step) || !keepsValues(column, step.addColumn)) continue;
      if (before.columns.some(({ name }) => name === step.addColumn.name)) continue;
      const [from, to] = [fieldName(column.name), fieldName(step.addColumn.name)];
      hints.push(
        `If ${from} of ${after.name} is called ${to} now, repeat the command with --rename ${after.name}.${from}=${to}.`,
      );
    }
    steps.push({ dropColumn: column });
    losses.push(
      `${fieldOf(after, column)} is no longer defined: its values are deleted. ${undone(before, column)}`,
    );
  }
  const { dropped, created } = changedIndexes(before, after, names, steps);
  const changes = [
    ...dropped.map((dropIndex) => ({ dropIndex })),
    ...steps,
    ...created.map((createIndex) => ({ createIndex })),
  ];
  return changes.length === 0 && problems.length === 0
    ? null
    : { table, changes, columns: [...columns], losses, problems, hints };
}

/** The effect of `--revert` on a column that was dropped. */
function undone(
  { indices }: Table,
  { name, type, isNullable, default: byDefault }: TableColumnOptions,
): string {
  if (isNullable) return 'A revert adds it without values.';
  if (indices.some(({ isUnique, columnNames }) => isUnique && columnNames.includes(name)))
    return 'A revert is refused while there are records, because it is required and unique.';
  return `A revert gives each record ${byDefault ?? (type === 'varchar' ? 'an empty text' : '0')}.`;
}

/** The renames that are none: they name a field that is not there, or one that stays. */
function wrongRenames(
  { columns: had }: Table,
  { name: table, columns = [] }: TableOptions,
  renames: readonly Rename[],
): string[] {
  const has = (all: readonly { name: string }[], name: string) => all.some((each) => each.name === name);
  return renames
    .filter(({ from, to }) => !has(had, from) || has(columns, from) || has(had, to) || !has(columns, to))
    .map(({ from, to }) => {
      const [old, now] = [fieldName(from), fieldName(to)];
      return `--rename ${table}.${old}=${now} needs ${old} in the migrations alone, and ${now} in the definition alone.`;
    });
}

/** The options of a column that a migration states. MySQL reads `integer` back as `int`. */
function plain({
  name,
  type,
  length,
  precision,
  scale,
  isNullable,
  isPrimary,
  default: byDefault,
}: TableColumn | TableColumnOptions) {
  return {
    name,
    type: type === 'int' ? 'integer' : type,
    ...(length ? { length } : {}),
    ...(type === 'decimal' ? { precision, scale } : {}),
    ...(isPrimary ? { isPrimary } : {}),
    ...(isNullable ? { isNullable } : {}),
    ...(byDefault === undefined || byDefault === null
      ? {}
      : { default: type === 'decimal' ? numberIn(byDefault, scale) : byDefault }),
  } satisfies TableColumnOptions;
}

/** SQLite has the default of a decimal as a text that sorts. */
function numberIn(byDefault: string, scale: number | undefined): string {
  return plainDecimal(String(byDefault).replaceAll("'", ''), Number(scale));
}

function isSame(one: TableColumnOptions, other: TableColumnOptions): boolean {
  const keys = ['type', 'length', 'precision', 'scale', 'isPrimary', 'isNullable'] as const;
  return keys.every((key) => one[key] === other[key]);
}

/** Other pairs of types differ in the values that they can have. */
function keepsValues(from: TableColumnOptions, to: TableColumnOptions): boolean {
  const isText = ({ type }: TableColumnOptions) => type === 'varchar' || type === 'text';
  return (
    from.type === to.type || (isText(from) && isText(to)) || (from.type === 'integer' && to.type === 'bigint')
  );
}

/** Before the point, or behind it. */
function hasFewerDigits(from: TableColumnOptions, to: TableColumnOptions): boolean {
  const places = ({ scale }: TableColumnOptions) => Number(scale);
  const whole = (column: TableColumnOptions) => Number(column.precision) - places(column);
  return places(to) < places(from) || whole(to) < whole(from);
}

function widthOf({ length }: TableColumnOptions): number {
  return length === undefined ? Number.POSITIVE_INFINITY : Number(length);
}

/** `priceCents of books`. */
function fieldOf(table: TableOptions, { name }: TableColumnOptions): string {
  return `${fieldName(name)} of ${table.name}`;
}

/** `priceCents` for the column `price_cents`. */
export function fieldName(column: string): string {
  return column.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
}

function changedIndexes(
  before: Table,
  after: TableOptions,
  names: ReadonlyMap<string, string>,
  steps: readonly TableChange[],
) {
  const own = before.indices.map(plainIndex).filter(({ name }) => name.startsWith(`${after.name}_`));
  const wanted = (after.indices ?? []).map(plainIndex);
  // MySQL takes a column that is dropped out of its indexes, also when one of its name is added.
  const gone = steps.flatMap((step) => ('addColumn' in step ? [step.addColumn.name] : []));
  const renamed = ({ columnNames, ...index }: ReturnType<typeof plainIndex>) =>
    ({ ...index, columnNames: columnNames.map((name) => names.get(name) ?? name) }) as const;
  const isSame = (one: ReturnType<typeof plainIndex>, other: ReturnType<typeof plainIndex>) =>
    isSameIndex(renamed(one), other) && !other.columnNames.some((column) => gone.includes(column));
  return {
    dropped: own.filter((index) => !wanted.some((other) => isSame(index, other))),
    created: wanted.filter((index) => !own.some((other) => isSame(other, index))),
  };
}

function plainIndex({ name = '', columnNames, isUnique }: TableIndexOptions) {
  return { name, columnNames: [...columnNames], ...(isUnique ? { isUnique } : {}) };
}

function isSameIndex(one: TableIndexOptions, other: TableIndexOptions): boolean {
  return (
    one.name === other.name &&
    one.isUnique === other.isUnique &&
    String(one.columnNames) === String(other.columnNames)
  );
}
