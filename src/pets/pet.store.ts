import type { SqlPart } from '../ground/database/sql-dialect.js';
import { RecordTable } from '../ground/records/record-table.js';
import type { Pet } from './pet.entity.js';
import { type ListedPet, matching, type PetListRequest, type PetPage, pageOf } from './pet-list.js';

// Digits as text: mysql2 takes several times as long to read a 64-bit integer exactly.
const COLUMNS =
  'CAST(id AS CHAR) AS id, name, CAST(category_id AS CHAR) AS categoryId, status, CAST(created_at_ms AS CHAR) AS createdAtMs';
/** Few statements serve any number of ids: the last id fills the rest. */
const ID_COUNTS = [1, 10, 100];
/** Behind every name, as a name has at most 255 characters. */
const LAST_NAME = '\u{10ffff}'.repeat(256);
/** Before every id. */
const NO_ID = -1n;

/**
 * The table of pets with its lists. Lists are the most frequent requests, so they use prepared statements and plain rows: a
 * third of the cost of TypeORM's query builder and entities. D-44.
 */
export class PetStore extends RecordTable<Pet> {
  /** A page of pets: one query, of one range of an index also for late pages. */
  async page(projectId: bigint, list: PetListRequest): Promise<PetPage> {
    const { sql, values } = list.ids
      ? this.selectIds(projectId, list.ids)
      : this.selectRange(projectId, list);
    const { rows, changesCursor } = list.isFollowed
      ? await this.readWithCursor<ListedPet>(projectId, sql, values)
      : { rows: await this.db.read<ListedPet>(String(projectId), sql, values), changesCursor: null };
    return { ...pageOf(list.ids ? matching(rows, list) : rows, list), changesCursor };
  }

  /** One row more than the page has. D-51. */
  private selectRange(projectId: bigint, list: PetListRequest): SqlPart {
    const isByName = list.nameStartsWith !== null;
    const direction = list.orderBy === 'OLDEST' ? '' : ' DESC';
    // `ORDER BY id` would sort the text alias; `pets.id` sorts the integer column.
    const order = `${isByName ? `pets.name${direction}, ` : ''}pets.id${direction}`;
    const { sql, values } = this.rangeOf(projectId, list);
    return {
      sql: `SELECT ${COLUMNS} ${sql}ORDER BY ${order} LIMIT ?`,
      values: [...values, list.pageSize + 1],
    };
  }

  /** How many pets the list has from its position on. Counting ends at its page size. D-180. */
  async count(projectId: bigint, list: PetListRequest): Promise<number> {
    const { sql, values } = this.rangeOf(projectId, list);
    const count = `SELECT COUNT(*) AS total FROM (SELECT pets.id ${sql}LIMIT ?) AS counted`;
    const [row] = await this.db.execute<{ total: unknown }>(count, [...values, list.pageSize]);
    return Number(row?.total);
  }

  private rangeOf(projectId: bigint, list: PetListRequest): SqlPart {
    const { sql, values } = list.nameStartsWith === null ? behindId(list) : this.behindName(list);
    const status = list.status === null ? '' : 'AND status = ? ';
    return {
      sql: `FROM pets ${this.indexFor(list)}WHERE project_id = ? ${status}${sql}`,
      values: [projectId, ...(list.status === null ? [] : [list.status]), ...values],
    };
  }

  /** Without the hint, MySQL may sort all pets of a status or of a prefix. All pets by id are the primary key. D-108. */
  private indexFor({ status, nameStartsWith }: PetListRequest): string {
    const index = `pets${status === null ? '' : '_status'}${nameStartsWith === null ? '' : '_name'}`;
    return index === 'pets' ? '' : `${this.db.dialect.forceIndex(index)} `;
  }

  /** A cursor's name has the prefix, so the position is one end of the range, and the prefix gives the other. */
  private behindName({ nameStartsWith, orderBy, after }: PetListRequest): SqlPart {
    const prefix = nameStartsWith ?? '';
    const behindAll = prefix + LAST_NAME;
    const [comparison, start, beforeEnd, end] =
      orderBy === 'OLDEST'
        ? (['>', prefix, '<', behindAll] as const)
        : (['<', behindAll, '>=', prefix] as const);
    const position = [after?.text ?? start, after?.id ?? NO_ID] as const;
    const { sql, values } = this.db.dialect.behind(['name', 'id'], comparison, position);
    return { sql: `AND ${sql} AND name ${beforeEnd} ? `, values: [...values, end] };
  }

  private selectIds(projectId: bigint, ids: readonly bigint[]): SqlPart {
    const last = ids.at(-1) ?? NO_ID;
    const count = ID_COUNTS.find((size) => size >= ids.length) ?? ids.length;
    const filled = [...ids, ...new Array<bigint>(count - ids.length).fill(last)];
    const sql = `SELECT ${COLUMNS} FROM pets WHERE project_id = ? AND id IN (${filled.map(() => '?')})`;
    return { sql, values: [projectId, ...filled] };
  }
}

function behindId({ orderBy, after }: PetListRequest): SqlPart {
  if (after === null) return { sql: '', values: [] };
  return { sql: `AND id ${orderBy === 'OLDEST' ? '>' : '<'} ? `, values: [after.id] };
}
