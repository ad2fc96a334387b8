import type { TableOptions } from 'typeorm';
import { listed } from '../../noun-words.js';
import { orderingFieldsOf } from '../definition/lists.js';
import type { ModelField, ModelUnique, NounModel } from '../definition/model.js';
import { entriesIndexOf, entriesTableOf, indexOf, isByEntry } from './noun-list.js';

export interface NounTable {
  /** For the Table API of migrations. */
  readonly table: TableOptions & { readonly name: string };
  /** The columns whose texts are compared by all their bytes, also on MySQL. */
  readonly exact: readonly string[];
  /** A table for each filter by an entry of a list. */
  readonly entries: readonly EntriesTable[];
}

/** A row for each entry of the lists of a field, with the other filters of the noun. Its primary key begins with the entry. */
export interface EntriesTable {
  /** `filledFrom` is the table of the noun. */
  readonly table: TableOptions & { readonly filledFrom: string };
  /** As one entry. */
  readonly field: ModelField;
  readonly others: readonly ModelField[];
}

/** Each is a copy of the table. On MySQL an insertion took 0.9 ms with 13, and 0.4 ms with none. */
const MOST_INDEXES = 24;
/** Of InnoDB, in bytes and in columns. */
const INDEX_BYTES = 3_072;
const INDEX_COLUMNS = 16;
/** Of MySQL: a name, and the bytes of a row. */
const NAME_CHARACTERS = 64;
const ROW_BYTES = 65_000;

/** Throws an `Error` if the lists of the noun need more indexes, or longer ones, than a table can have. */
export function tableOf(model: NounModel): NounTable {
  const { table, fields } = model;
  if (bytesOf(fields) > ROW_BYTES)
    throw new Error(
      `The noun ${model.description.singular}: a row has more bytes than MySQL allows. Give a text a smaller max.`,
    );
  const indices = indexesOf(model);
  return {
    table: {
      name: table,
      withoutRowid: true,
      columns: [
        { name: 'project_id', type: 'bigint', isPrimary: true },
        { name: 'id', type: 'bigint', isPrimary: true },
        ...fields.map((field) => ({
          ...columnOf(field),
          // Of records that are older than the field.
          ...defaultOf(field),
        })),
        { name: 'created_at_ms', type: 'bigint' },
      ],
      indices: indices.map(({ name, columns, isUnique }) => ({ name, columnNames: columns, isUnique })),
    },
    exact: fields.filter((field) => isExact(field, model)).map(({ column }) => column),
    entries: model.wholeFilters.filter(isByEntry).map(({ field }) => entriesOf(model, field)),
  };
}

function columnOf({ column: name, kind: { column }, isSet }: ModelField) {
  return {
    name,
    type: column.type,
    ...(column.length === undefined ? {} : { length: String(column.length) }),
    ...(column.type === 'decimal' && { precision: column.precision, scale: column.scale }),
    ...(isSet ? {} : { isNullable: true }),
  };
}

function defaultOf({ kind: { column, toSql }, options }: ModelField) {
  const { default: byDefault } = options;
  if (byDefault === undefined) return {};
  const isDecimal = column.type === 'decimal';
  return { default: isDecimal ? String(byDefault) : literal(toSql?.(byDefault) ?? byDefault) };
}

/** Each list of one entry has an index, with each combination of the other filters. D-285. */
function entriesOf(model: NounModel, field: ModelField): EntriesTable {
  const name = entriesTableOf(model, field);
  const others = combinedOf(model);
  const refuse = (problem: string) => {
    throw new Error(
      `The noun ${model.description.singular}: filter: 'has' of ${field.name} needs ${problem}`,
    );
  };
  const indices = subsetsOf(others).flatMap((filters) => {
    const bytes = bytesOf([field, ...filters]);
    const names = [field, ...filters].map((each) => each.name);
    if (bytes > INDEX_BYTES)
      refuse(
        `an index of ${listed(names)} with ${bytes} bytes, and MySQL allows ${INDEX_BYTES}. Give a text a smaller max: a character has 4 bytes.`,
      );
    const columns = filters.map(({ column }) => column);
    const index = entriesIndexOf(name, columns);
    const longest = index ?? name;
    if (longest.length > NAME_CHARACTERS)
      refuse(
        `the name ${longest}, and MySQL allows ${NAME_CHARACTERS} characters. Rename a field that lists filter by.`,
      );
    return index === null ? [] : { name: index, columnNames: ['project_id', field.column, ...columns, 'id'] };
  });
  return {
    field,
    others,
    table: {
      name,
      withoutRowid: true,
      columns: [
        { name: 'project_id', type: 'bigint', isPrimary: true },
        { ...columnOf(field), isPrimary: true },
        { name: 'id', type: 'bigint', isPrimary: true },
        ...others.map(columnOf),
      ],
      indices,
      filledFrom: model.table,
    },
  };
}

interface Index {
  readonly name: string;
  readonly columns: string[];
  readonly isUnique: boolean;
}

/** Each list has an index: each combination of filters, ordered by age and by each ordering field. D-263, D-268. */
function indexesOf(model: NounModel): Index[] {
  const { table, fields, uniques, description } = model;
  const ordering = orderingFieldsOf(model);
  const combined = combinedOf(model);
  const lists = subsetsOf(combined).flatMap((filters) => [
    { filters, by: null },
    // The records of one value are in the order of their ids.
    ...ordering.filter((field) => !filters.includes(field)).map((by) => ({ filters, by })),
  ]);
  const ordered = lists
    .filter(({ filters, by }) => filters.length > 0 || by !== null)
    .map(({ filters, by }) => listIndex(table, fields, filters, by))
    // A list of one value in the order of that field is that of the value by age.
    .filter((index, at, all) => all.findIndex((each) => isSameIndex(each, index)) === at);
  const all = [...ordered, ...uniques.map((unique) => uniqueIndex(table, unique, ordering))];
  const names = all.map(({ name }) => name);
  const wrong =
    names.find((name) => name.length > NAME_CHARACTERS) ?? names.find((name, at) => names.indexOf(name) < at);
  if (wrong !== undefined) {
    throw new Error(
      `The noun ${description.singular}: the index ${wrong} has a name that is too long, or that two indexes have. Rename a field that lists filter by.`,
    );
  }
  if (all.length > MOST_INDEXES) {
    const causes = [
      ...combined.map(({ name }) => `filter of ${name}`),
      ...ordering.map(({ name, filter }) => `${filter && filter !== 'whole' ? 'filter' : 'sort'} of ${name}`),
      ...uniques.map(({ field }) => `unique of ${field.name}`),
    ];
    throw new Error(
      `The noun ${description.singular}: its lists and unique fields need ${all.length} indexes, and a table has at most ${MOST_INDEXES}. They come from ${listed(causes)}. Each filter of whole values doubles them. Remove one.`,
    );
  }
  return all;
}

/** The filters by a value that need indexes together. A list of a unique value has one record at most. */
function combinedOf({ wholeFilters }: NounModel): ModelField[] {
  const whole = wholeFilters.filter((filter) => !isByEntry(filter)).map(({ field }) => field);
  return whole.filter(({ options }) => options.unique !== true);
}

function isSameIndex(one: Index, other: Index): boolean {
  return one.columns.join() === other.columns.join();
}

/** An index of a list has the shorter name. The unique field is the last column: migrations name it in their messages. */
function uniqueIndex(
  table: string,
  { field, together }: ModelUnique,
  ordering: readonly ModelField[],
): Index {
  const fields = [...together, field];
  refuseLong(table, fields);
  const columns = fields.map(({ column }) => column);
  const isShared = ordering.includes(field) || together.length > 0;
  const name = [table, ...columns, ...(isShared ? ['unique'] : [])].join('_');
  return { name, columns: ['project_id', ...columns], isUnique: true };
}

function subsetsOf(fields: readonly ModelField[]): ModelField[][] {
  const subsets: ModelField[][] = [[]];
  for (const field of fields) subsets.push(...subsets.map((subset) => [...subset, field]));
  return subsets;
}

/** All columns, so that a page reads no row of the table (D-186), if MySQL allows an index that long. */
function listIndex(
  table: string,
  fields: readonly ModelField[],
  filters: readonly ModelField[],
  by: ModelField | null,
): Index {
  const ordering = by === null ? filters : [...filters, by];
  const keys = ['project_id', ...ordering.map(({ column }) => column), 'id'];
  const rest = fields.filter((field) => !ordering.includes(field));
  const whole = [...keys, ...rest.map(({ column }) => column), 'created_at_ms'];
  const name = indexOf(
    table,
    ordering.map(({ column }) => column),
  ) as string;
  refuseLong(table, ordering);
  const fits = bytesOf(fields) <= INDEX_BYTES && whole.length <= INDEX_COLUMNS;
  return { name, columns: fits ? whole : keys, isUnique: false };
}

function bytesOf(fields: readonly ModelField[]): number {
  return fields.reduce((sum, { kind }) => sum + kind.indexBytes + 1, 3 * 8);
}

function refuseLong(table: string, indexed: readonly ModelField[]): void {
  const bytes = bytesOf(indexed);
  if (bytes <= INDEX_BYTES) return;
  const names = indexed.map(({ name }) => name).join(' and ');
  throw new Error(
    `The index of ${names} is longer than MySQL allows, with ${bytes} of ${INDEX_BYTES} bytes. Give the text in ${table} a smaller max: a character has 4 bytes.`,
  );
}

/** Orders, filters and unique values tell `Rex` from `Rex ` and `rex`. */
function isExact(field: ModelField, { uniques }: NounModel): boolean {
  const { kind, filter, options } = field;
  if (kind.name !== 'text') return false;
  const isUnique = uniques.some((unique) => [unique.field, ...unique.together].includes(field));
  return isUnique || filter !== null || options.sort === true;
}

/** A value in SQL. */
function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
}
