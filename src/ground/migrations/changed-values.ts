import type { Table, TableColumnOptions, TableIndexOptions } from 'typeorm';

/** A step, with all that undoes it. A column that changes its name in `changeColumn` keeps its values. */
export type TableChange =
  | { readonly addColumn: TableColumnOptions }
  | { readonly dropColumn: TableColumnOptions }
  | ColumnChange
  | { readonly createIndex: TableIndexOptions }
  | { readonly dropIndex: TableIndexOptions };

export interface ColumnChange {
  readonly changeColumn: TableColumnOptions;
  readonly from: TableColumnOptions;
}

/** The columns after the changes, each with the SQL of its value in a row that is older. */
export function changedValues({ columns }: Table, changes: readonly TableChange[]): Map<string, string> {
  const values = new Map(columns.map(({ name }) => [name, quoted(name)]));
  for (const change of changes) {
    if ('dropColumn' in change) values.delete(change.dropColumn.name);
    if ('changeColumn' in change) values.delete(change.from.name);
  }
  for (const change of changes) {
    if ('addColumn' in change) values.set(change.addColumn.name, firstValue(change.addColumn));
    if ('changeColumn' in change) {
      const { changeColumn, from } = change;
      values.set(changeColumn.name, fittedValue(from, changeColumn, quoted(from.name)));
    }
  }
  return values;
}

/** `value`, of the column before, as the changed column has it: cut, or with the default in place of null. */
export function fittedValue(from: TableColumnOptions, to: TableColumnOptions, value: string): string {
  const isShorter = Number(to.length ?? Infinity) < Number(from.length ?? Infinity);
  const cut = isShorter ? `SUBSTR(${value}, 1, ${Number(to.length)})` : value;
  const getsDefault = isRequiredNow(from, to) && to.default !== undefined;
  return getsDefault ? `COALESCE(${cut}, ${to.default})` : cut;
}

export function isRequiredNow(from: TableColumnOptions, to: TableColumnOptions): boolean {
  return from.isNullable === true && to.isNullable !== true;
}

/** The value of rows that exist already, as MySQL chooses it. */
function firstValue({ default: byDefault, isNullable, type }: TableColumnOptions): string {
  if (byDefault !== undefined) return String(byDefault);
  if (isNullable) return 'NULL';
  return type === 'varchar' || type === 'text' ? "''" : '0';
}

/** SQLite reads these quotes as MySQL does. */
export function quoted(name: string): string {
  return `\`${name}\``;
}
