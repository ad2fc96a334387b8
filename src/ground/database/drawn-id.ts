import type { Capability } from '../kernel/capability.js';
import { SECOND_MS } from '../kernel/duration.js';
import { END_OF_IDS, type IdGenerator } from '../kernel/ids.js';
import { ChangeSequence, isRaised } from './change-sequence.entity.js';
import type { Database } from './database.js';
import { isDuplicateId } from './database-errors.js';

/** Each draw skips about 1,000 ids, so many collisions in a row are a fault, not chance. */
const MAX_DRAWS = 20;

/**
 * Runs `insert` with a drawn id, and retries with another id while the primary key is taken: another process drew it in the
 * same millisecond. In a transaction, `insert` must be one statement, because the database undoes only that.
 */
export async function withDrawnId<T>(ids: IdGenerator, insert: (id: bigint) => Promise<T>): Promise<T> {
  return untilFree(insert, ids.next(), () => ids.nextFurther());
}

/** As `withDrawnId`, for rows that are inserted together: a retry draws new ids for all of them. */
export function withDrawnIds<T>(
  ids: IdGenerator,
  count: number,
  insert: (drawn: bigint[]) => Promise<T>,
): Promise<T> {
  return withDrawnId(ids, (first) =>
    insert(Array.from({ length: count }, (_, index) => (index === 0 ? first : ids.next()))),
  );
}

/** Runs `insert` with the first ids, and repeats it with others while one is taken. */
export async function untilFree<Ids, T>(
  insert: (ids: Ids) => Promise<T>,
  first: Ids,
  redraw: () => Ids,
): Promise<T> {
  for (let [draw, ids] = [1, first]; ; [draw, ids] = [draw + 1, redraw()]) {
    try {
      return await insert(ids);
    } catch (error) {
      if (!isDuplicateId(error) || draw === MAX_DRAWS) throw error;
    }
  }
}

const MARK = 'ids';

/**
 * The largest id that was drawn, for processes that start: of all rows, and of the rows that were deleted since. The second
 * is a counter, stored every few seconds. A clock that was set back then gives no id behind an acknowledged one. D-241.
 */
export class IdMark implements Capability {
  static readonly schema = { entities: [ChangeSequence], migrations: [] };
  readonly chores = [{ name: 'storing the largest id', everyMs: 5 * SECOND_MS, work: () => this.store() }];
  private stored = 0n;

  constructor(
    private readonly db: Database,
    private readonly ids: IdGenerator,
  ) {}

  /** Reads it with one statement. Larger ids than the gateway draws do not count. */
  async read(): Promise<bigint> {
    const counters = this.db.repository(ChangeSequence);
    // With a key of more columns, the ids are those of another table's records.
    const tables = counters.manager.dataSource.entityMetadatas.filter(
      ({ primaryColumns }) =>
        primaryColumns.length <= 2 && primaryColumns.some(({ databaseName }) => databaseName === 'id'),
    );
    const newest = tables.map(({ tableName, primaryColumns: { length } }) => ({
      sql: length === 1 ? newestOf(tableName) : newestOfProjects(tableName),
      values: [END_OF_IDS],
    }));
    const mark = { sql: 'SELECT value AS id FROM change_sequences WHERE name = ?', values: [MARK] };
    const found = await this.db.union<{ id: string | bigint | null }>([mark, ...newest]);
    return found.reduce((largest, { id }) => (BigInt(id ?? 0) > largest ? BigInt(id ?? 0) : largest), 0n);
  }

  async store(): Promise<void> {
    const { largest } = this.ids;
    if (largest === this.stored) return;
    const { manager } = this.db.repository(ChangeSequence);
    await this.db.write(() => isRaised(manager, { name: MARK, value: largest }));
    this.stored = largest;
  }
}

const newestOf = (table: string) => `SELECT MAX(id) AS id FROM ${table} WHERE id < ?`;

/** A look-up for each project: its rows are one range, and no index has the ids of all. */
const newestOfProjects = (table: string) =>
  `SELECT MAX(newest) AS id FROM (SELECT (SELECT id FROM ${table} WHERE project_id = projects.id AND id < ?
    ORDER BY ${table}.id DESC LIMIT 1) AS newest FROM projects) AS of_projects`;
