import type { EntityManager } from 'typeorm';
import type { Database } from '../../ground/database/database.js';
import type { SqlPart } from '../../ground/database/sql-dialect.js';
import type { DataVersions } from '../../ground/kernel/data-versions.js';
import type { FieldProblem } from '../../ground/kernel/errors.js';
import type { ChangeFeeds } from '../../ground/records/change-feed.js';
import { type Beside, RecordTable } from '../../ground/records/record-table.js';
import type { ModelField, NounModel } from '../definition/model.js';
import {
  entriesIndexOf,
  entriesTableOf,
  entryFiltersOf,
  indexOf,
  type ListedRow,
  matching,
  type NounListRequest,
  type NounPage,
  orderingFieldOf,
  pageOf,
  type Sort,
} from './noun-list.js';
import { References } from './references.js';
import type { NounRow } from './row.js';
import { Uniques } from './uniques.js';

/** Few statements serve any number of ids: the last id fills the rest. */
const ID_COUNTS = [1, 10, 100, 1_000, 5_000];
/** SQLite joins at most 500 selects, and MySQL takes longer for each with their number. */
const MOST_LISTS = 400;
/** A character behind every text's. */
const LAST_CHARACTER = '\u{10ffff}';
/** Before every id. */
const NO_ID = -1n;

/**
 * The table of a noun with its lists. Lists are the most frequent requests, so they use prepared statements and plain rows: a
 * third of the cost of TypeORM's query builder and entities. D-44.
 */
export class NounStore extends RecordTable<NounRow> {
  readonly references: References;
  private readonly uniques: Uniques;
  private readonly columns: string;

  constructor(
    private readonly model: NounModel,
    entity: new () => NounRow,
    db: Database,
    versions: DataVersions,
    feeds: ChangeFeeds,
    besides: readonly Beside<NounRow>[],
  ) {
    super(entity, db, versions, feeds, besides);
    this.references = new References(model, db, () => {
      this.preparing = (...write) => this.references.preparationOf(...write);
    });
    this.uniques = new Uniques(model, (where) => this.repository.findBy(where));
    this.columns = columnsOf(model);
  }

  /** A page: one query, of one range of an index also for late pages. */
  async page(projectId: bigint, list: NounListRequest): Promise<NounPage> {
    const { sql, values } = list.ids
      ? this.selectIds(projectId, list.ids)
      : this.selectRange(projectId, list);
    const { rows, changesCursor } = list.isFollowed
      ? await this.readWithCursor<ListedRow>(projectId, sql, values)
      : { rows: await this.db.readList<ListedRow>(String(projectId), sql, values), changesCursor: null };
    return { ...pageOf(list.ids ? matching(this.model, rows, list) : rows, list), changesCursor };
  }

  /** The page of each list. A statement reads one range of an index for each of up to `MOST_LISTS`. */
  async pages(projectId: bigint, lists: readonly NounListRequest[]): Promise<NounPage[]> {
    const [first] = lists;
    if (first && lists.length === 1) return [await this.page(projectId, first)];
    const pages: NounPage[] = [];
    while (pages.length < lists.length) {
      pages.push(...(await this.together(projectId, lists.slice(pages.length, pages.length + MOST_LISTS))));
    }
    return pages;
  }

  private async together(projectId: bigint, lists: readonly NounListRequest[]): Promise<NounPage[]> {
    const selects = lists.map((list, at) => {
      const { sql, values } = this.selectRange(projectId, list);
      return { sql: sql.replace('SELECT ', `SELECT '${at}' AS list_number, `), values };
    });
    const rows = await this.db.union<ListedRow & { list_number: string }>(selects, { isList: true });
    const found = lists.map((): ListedRow[] => []);
    for (const row of rows) found[Number(row.list_number)]?.push(row);
    return lists.map((list, at) => ({ ...pageOf(found[at] ?? [], list), changesCursor: null }));
  }

  /** How many records the list has from its position on. Counting ends at its page size. D-180. */
  async count(projectId: bigint, list: NounListRequest): Promise<number> {
    const [range] = this.rangesOf(list);
    const { sql, values } = this.rangeOf(projectId, list, range);
    const table = this.entriesOf(list) ?? this.model.table;
    const count = `SELECT COUNT(*) AS total FROM (SELECT ${table}.id ${sql}LIMIT ?) AS counted`;
    const [row] = await this.db.readList<{ total: unknown }>(String(projectId), count, [
      ...values,
      list.pageSize,
    ]);
    return Number(row?.total);
  }

  /**
   * The problems of each record that refers to a missing one, or has values that must be unique: the project has them, or a
   * record before it. A record with a problem is not stored, so others may have its other values.
   */
  async conflicts(projectId: bigint, records: readonly Record<string, unknown>[]): Promise<FieldProblem[][]> {
    const missing = await this.references.problemsOf(projectId, records as Partial<NounRow>[]);
    return this.uniques.problemsOf(projectId, records, missing);
  }

  /** Throws `AppError conflict` if the write repeats a value that must be unique. */
  refuseTaken<T>(write: () => Promise<T>): Promise<T> {
    return this.uniques.refuseTaken(write);
  }

  protected override lostBy(manager: EntityManager, inserted: NounRow) {
    return this.references.lostBy(manager, inserted.projectId, inserted);
  }

  /** One row more than the page has. Two ranges are read one after the other: the second for what the first lacks. */
  private selectRange(projectId: bigint, list: NounListRequest): SqlPart {
    const [near, far] = this.rangesOf(list);
    const first = this.selectOne(projectId, list, near);
    if (!far) return first;
    const second = this.selectOne(projectId, list, far);
    return {
      sql: `SELECT found.* FROM (SELECT * FROM (${first.sql}) AS near UNION ALL SELECT * FROM (${second.sql}) AS far LIMIT ?) AS found`,
      values: [...first.values, ...second.values, list.pageSize + 1],
    };
  }

  private selectOne(projectId: bigint, list: NounListRequest, range: Range): SqlPart {
    const { table } = this.model;
    const direction = list.orderBy === 'OLDEST' ? '' : ' DESC';
    const entries = this.entriesOf(list);
    if (entries !== null) {
      const { sql, values } = this.rangeOf(projectId, list, range);
      const { inThisOrder } = this.db.dialect;
      return {
        sql: `SELECT ${this.columns} FROM (SELECT ${entries}.id AS _id ${sql}ORDER BY ${entries}.id${direction} LIMIT ?) AS found ${inThisOrder} ${table} ON ${table}.project_id = ? AND ${table}.id = found._id`,
        values: [...values, list.pageSize + 1, projectId],
      };
    }
    const field = range.isUnset ? null : orderingFieldOf(list);
    // `ORDER BY id` would sort the text alias; with its table, it sorts the integer column.
    const byField = field ? `${table}.${quoted(field)}${direction}, ` : '';
    const { sql, values } = this.rangeOf(projectId, list, range);
    return {
      sql: `SELECT ${this.columns} ${sql}ORDER BY ${byField}${table}.id${direction} LIMIT ?`,
      values: [...values, list.pageSize + 1],
    };
  }

  /** The table of the entries that the list reads; null = that of the records, as for the one record of a unique value. */
  private entriesOf(list: NounListRequest): string | null {
    const [filter] = entryFiltersOf(this.model, list);
    return filter && !this.uniqueOf(list) ? entriesTableOf(this.model, filter.field) : null;
  }

  private uniqueOf({ wholeValues }: NounListRequest): ModelField | undefined {
    const stated = this.model.wholeFilters.filter((_, at) => (wholeValues[at] ?? null) !== null);
    return stated.findLast(({ field }) => field.options.unique === true)?.field;
  }

  private rangeOf(projectId: bigint, list: NounListRequest, { sql, values }: SqlPart): SqlPart {
    const { wholeFilters } = this.model;
    const entries = this.entriesOf(list);
    const table = entries ?? this.model.table;
    const filters: string[] = [];
    const filtered: unknown[] = [];
    const indexed: string[] = [];
    const unique = this.uniqueOf(list);
    for (const [at, value] of list.wholeValues.entries()) {
      const field = wholeFilters[at]?.field;
      if (value === null || !field) continue;
      filtered.push(field.kind.toSql?.(value) ?? value);
      if (field.filter === 'has' && unique) filters.push(`AND ${this.hasEntry(field)} `);
      else filters.push(`AND ${quoted(field)} = ? `);
      if (field.filter !== 'has' && field !== unique) indexed.push(field.column);
    }
    const ordering = orderingFieldOf(list);
    if (ordering) indexed.push(ordering.column);
    const index = entries
      ? (entriesIndexOf(entries, indexed) ?? this.db.dialect.primaryKey)
      : indexOf(table, unique ? [unique.column] : indexed);
    // Without the hint, MySQL may sort all records of a filter. All records by id are the primary key. D-108.
    const hint = index === null ? '' : `${this.db.dialect.forceIndex(index)} `;
    return {
      sql: `FROM ${table} ${hint}WHERE project_id = ? ${filters.join('')}${sql}`,
      values: [projectId, ...filtered, ...values],
    };
  }

  private hasEntry(field: ModelField): string {
    const { table } = this.model;
    const entries = entriesTableOf(this.model, field);
    return `EXISTS (SELECT 1 FROM ${entries} WHERE ${entries}.project_id = ${table}.project_id AND ${entries}.${quoted(field)} = ? AND ${entries}.id = ${table}.id)`;
  }

  /** The part of the list behind its position: one range, or two if records without a value are behind those with one. */
  private rangesOf(list: NounListRequest): [Range, Range?] {
    if (list.start) return [this.behindText(list, list.start)];
    return list.sort ? this.behindValue(list, list.sort) : [behindId(list)];
  }

  private behindValue({ orderBy, after }: NounListRequest, { field, from, before }: Sort): [Range, Range?] {
    const column = quoted(field);
    const isAscending = orderBy === 'OLDEST';
    const bound = (comparison: string, text: string | null): SqlPart => {
      if (text === null) return NOTHING;
      const { sql, values } = this.comparable(field, text);
      return { sql: `AND ${column} ${comparison} ${sql} `, values };
    };
    if (after === null) return [both(bound('>=', from), bound('<', before))];
    if (after.text === '') {
      const rest = behindId({ orderBy, after });
      const unset = { sql: `AND ${column} IS NULL ${rest.sql}`, values: rest.values, isUnset: true };
      return isAscending ? [unset, { sql: `AND ${column} IS NOT NULL `, values: [] }] : [unset];
    }
    const value = this.comparable(field, after.text);
    const position = [...value.values, after.id];
    const comparison = isAscending ? '>' : '<';
    const behind = this.db.dialect.behind([column, 'id'], comparison, position, [value.sql, '?']);
    const end = isAscending ? bound('<', before) : bound('>=', from);
    const range = both({ sql: `AND ${behind.sql} `, values: behind.values }, end);
    const hasUnset = !isAscending && !field.isSet && from === null && before === null;
    return hasUnset ? [range, { sql: `AND ${column} IS NULL `, values: [], isUnset: true }] : [range];
  }

  /** A value as its column compares it, from its text in a cursor. */
  private comparable({ kind: { column, isDigits } }: ModelField, text: string): SqlPart {
    const { type, precision = 0, scale = 0 } = column;
    if (type === 'decimal') return this.db.dialect.decimal(text, precision, scale);
    return { sql: '?', values: [isDigits ? BigInt(text) : text] };
  }

  /** A cursor's text has the prefix, so the position is one end of the range, and the prefix gives the other. */
  private behindText(
    { orderBy, after }: NounListRequest,
    { filter: { field }, prefix }: NonNullable<NounListRequest['start']>,
  ): SqlPart {
    const behindAll = prefix + LAST_CHARACTER.repeat(Number(field.kind.column.length) + 1);
    const [comparison, start, beforeEnd, end] =
      orderBy === 'OLDEST'
        ? (['>', prefix, '<', behindAll] as const)
        : (['<', behindAll, '>=', prefix] as const);
    const position = [after?.text ?? start, after?.id ?? NO_ID] as const;
    const { sql, values } = this.db.dialect.behind([quoted(field), 'id'], comparison, position);
    return { sql: `AND ${sql} AND ${quoted(field)} ${beforeEnd} ? `, values: [...values, end] };
  }

  private selectIds(projectId: bigint, ids: readonly bigint[]): SqlPart {
    const last = ids.at(-1) ?? NO_ID;
    const count = ID_COUNTS.find((size) => size >= ids.length) ?? ids.length;
    const filled = [...ids, ...new Array<bigint>(count - ids.length).fill(last)];
    const { table } = this.model;
    const sql = `SELECT ${this.columns} FROM ${table} WHERE project_id = ? AND id IN (${filled.map(() => '?')})`;
    return { sql, values: [projectId, ...filled] };
  }
}

/** A condition that one range of an index meets. */
interface Range extends SqlPart {
  /** No record of it has a value of the ordering field. MariaDB would sort by it, because it knows no order of one NULL. */
  readonly isUnset?: boolean;
}

const NOTHING: SqlPart = { sql: '', values: [] };

function both(one: SqlPart, other: SqlPart): SqlPart {
  return { sql: one.sql + other.sql, values: [...one.values, ...other.values] };
}

function behindId({ orderBy, after }: Pick<NounListRequest, 'orderBy' | 'after'>): SqlPart {
  if (after === null) return NOTHING;
  return { sql: `AND id ${orderBy === 'OLDEST' ? '>' : '<'} ? `, values: [after.id] };
}

/** Digits as text: mysql2 takes several times as long to read a 64-bit integer exactly. */
export function columnsOf({ fields, shown, computed }: NounModel): string {
  const digits = (column: string, name: string) => `CAST(${column} AS CHAR) AS \`${name}\``;
  // A computed field may follow from a value that no answer has.
  const read = computed.length > 0 ? fields : shown;
  const named = read.map((field) =>
    field.kind.isDigits ? digits(quoted(field), field.name) : `${quoted(field)} AS \`${field.name}\``,
  );
  return [digits('id', 'id'), ...named, digits('created_at_ms', 'createdAtMs')].join(', ');
}

/** A field may have a word of SQL as its name. SQLite reads MySQL's quotes too. */
const quoted = ({ column }: Pick<ModelField, 'column'>) => `\`${column}\``;
