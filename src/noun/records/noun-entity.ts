import type { EntitySchemaOptions } from 'typeorm';
import { ID, INTEGER, TIME_MS } from '../../ground/database/columns.js';
import type { ModelField, NounModel } from '../definition/model.js';
import type { NounTable } from './noun-table.js';
import type { NounRow } from './row.js';

/** The table of a noun in TypeORM's form. */
export function entityOf(
  { description, fields, table: tableName }: NounModel,
  { table }: Pick<NounTable, 'table'>,
  target: new () => NounRow,
): EntitySchemaOptions<NounRow> {
  const own = { project_id: 'projectId', id: 'id', created_at_ms: 'createdAtMs' };
  const properties: Readonly<Record<string, string>> = {
    ...own,
    ...Object.fromEntries(fields.map(({ column, name }) => [column, name])),
  };
  return {
    name: description.type,
    target,
    tableName,
    withoutRowid: true,
    columns: {
      projectId: { ...ID, name: 'project_id', primary: true },
      id: { ...ID, primary: true },
      ...Object.fromEntries(fields.map((field) => [field.name, columnOf(field)])),
      createdAtMs: { ...TIME_MS, name: 'created_at_ms' },
    },
    indices: (table.indices ?? []).map(({ name, columnNames, isUnique }) => ({
      name: name as string,
      columns: columnNames.map((column) => properties[column] as string),
      unique: isUnique === true,
    })),
  };
}

export function columnOf({ column: name, kind: { column }, isSet, options }: ModelField) {
  const shared = {
    name,
    ...(options.default === undefined ? {} : { default: options.default }),
    ...(isSet ? {} : { nullable: true }),
  };
  if (column.transformer) return { ...shared, ...column } as const;
  if (column.type === 'bigint') return { ...shared, ...ID };
  if (column.type === 'integer') return { ...shared, ...INTEGER };
  return { ...shared, type: column.type, length: column.length } as const;
}
