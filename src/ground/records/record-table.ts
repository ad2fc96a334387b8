import { type EntityManager, type FindOptionsWhere, In, type QueryDeepPartialEntity } from 'typeorm';
import type { Database } from '../database/database.js';
import { insertion } from '../database/insert-rows.js';
import type { Caller } from '../kernel/caller.js';
import type { DataVersions } from '../kernel/data-versions.js';
import type { ChangeFeeds } from './change-feed.js';
import type { RecordChange, WrittenChange } from './change-log.js';
import { NounChanges } from './noun-changes.js';
import { cursorOf } from './position.js';

/** The first columns of every noun's row; together they are its primary key. */
export interface ProjectRow {
  projectId: bigint;
  id: bigint;
}

/** Runs in the transaction of a write, such as storing its answer for an Idempotency-Key; null = nothing runs. */
export type Alongside<T> = ((manager: EntityManager, result: T) => Promise<void>) | null;

/** Rows of another table that follow from the records, and are written in the transaction of each write. */
export interface Beside<Row> {
  /** Whether they follow from this write. If so, the record is read and locked before it is changed or deleted. */
  needs(write: PlannedWrite<Row>): boolean;
  /** Runs after an insertion and an update, and before a deletion. */
  run(manager: EntityManager, changes: readonly RecordChange<Row>[]): Promise<void>;
}

/** Logs changes of any table in the change log of the project; null = it is off. */
type Note = ((changes: readonly WrittenChange[]) => void) | null;

/** The first step of a write, in its transaction. */
export interface Preparation {
  /** May run more than once. Throws if the write must not be done. */
  run(manager: EntityManager, note: Note): Promise<void>;
  /** Of other data that it changes. */
  readonly versions: readonly DataVersions[];
}

/** The client's name of a field of the record at a position. */
export type NameOf = (field: string, at: number) => string;

/** A write of records of a project: new ones, values of one, or its deletion. */
export type PlannedWrite<Row> =
  | { readonly created: readonly Row[]; readonly nameOf: NameOf | undefined }
  | { readonly changed: bigint; readonly values: Partial<Row> }
  | { readonly deleted: bigint };

/** The conditions of a change. Each throws if the record, before or after the change, does not meet it. */
export interface Checks<Row> {
  readonly expect?: ((before: Row) => void) | undefined;
  readonly verify?: ((after: Row) => void) | undefined;
}

/** The table of a noun. Every write changes the project's data version, and is a change of its log if that is on. */
export class RecordTable<Row extends ProjectRow> {
  readonly changes: NounChanges<Row>;
  /** The preparation that a write needs. Null = no write needs one. */
  protected preparing: ((projectId: bigint, write: PlannedWrite<Row>) => Preparation | null) | null = null;

  constructor(
    private readonly entity: new () => Row,
    protected readonly db: Database,
    protected readonly versions: DataVersions,
    private readonly feeds: ChangeFeeds,
    readonly besides: readonly Beside<Row>[] = [],
  ) {
    this.changes = new NounChanges(entity, db, feeds);
  }

  find(projectId: bigint, id: bigint): Promise<Row | null> {
    return this.repository.findOneBy(keyOf<Row>(projectId, id));
  }

  /** The project's records among these ids, in any order. */
  findAll(projectId: bigint, ids: readonly bigint[]): Promise<Row[]> {
    return this.repository.findBy({ projectId, id: In([...ids]) } as FindOptionsWhere<Row>);
  }

  /**
   * Inserts records of one project in a transaction with `alongside`, with one statement: all of them, or none. Throws what
   * the driver throws: `isDuplicateId` for a taken id, `isDuplicate` for any value that must be unique.
   */
  async insertAll(
    caller: Caller,
    rows: readonly Row[],
    alongside: Alongside<Row[]>,
    nameOf?: NameOf,
  ): Promise<void> {
    const { projectId, changesSinceMs, mayWrite } = caller;
    const insert = insertion(this.repository.metadata, rows);
    const write = { created: rows, nameOf };
    const preparation = this.preparationOf(projectId, write);
    const besides = needing(this.besides, write);
    // Most writes: a prepared statement, without TypeORM's query runner. Of one row, because each size is a statement. D-44.
    if (rows.length === 1 && !alongside && !preparation && !besides && changesSinceMs === null) {
      const run = () => this.db.write(() => this.db.execute(...insert, mayWrite), mayWrite);
      await this.versions.change(projectId, run);
      return;
    }
    const isTogether = alongside !== null || besides !== null;
    await this.write(caller, isTogether, preparation, async (manager, note) => {
      await manager.query(...insert);
      await besides?.(manager, created(rows));
      await alongside?.(manager, [...rows]);
      for (const after of rows) note?.({ before: null, after });
    });
  }

  /**
   * Returns the changed record; null = there is none. A function decides on the changes of the locked record, perhaps more
   * than once. Throws as `insertAll`, and what the function throws, `expect` for the record before and `verify` for the
   * changed one: then nothing is changed.
   */
  update(
    caller: Caller,
    id: bigint,
    changes: Partial<Row> | ((before: Row) => Partial<Row>),
    alongside: Alongside<Row>,
    { expect, verify }: Checks<Row> = {},
  ): Promise<Row | null> {
    const decide = typeof changes === 'function' ? changes : null;
    const besidesOf = (values: Partial<Row>) => needing(this.besides, { changed: id, values });
    const isFollowed = typeof changes !== 'function' && besidesOf(changes) !== null;
    const isTogether =
      alongside !== null || decide !== null || expect !== undefined || verify !== undefined || isFollowed;
    const prepared = (values: Partial<Row>) => this.preparationOf(caller.projectId, { changed: id, values });
    const preparation = typeof changes === 'function' ? null : prepared(changes);
    return this.write(caller, isTogether, preparation, async (manager, note) => {
      const key = keyOf<Row>(caller.projectId, id);
      const before = (note || expect || decide || isFollowed) && (await this.lock(manager, key));
      if (before) expect?.(before);
      const wanted = decide ? before && decide(before) : (changes as Partial<Row>);
      // The decided changes are known only now.
      if (decide && wanted) await prepared(wanted)?.run(manager, null);
      // An action may change nothing.
      if (wanted && Object.keys(wanted).length > 0)
        await manager.update(this.entity, key, wanted as QueryDeepPartialEntity<Row>);
      // A snapshot read may not see what another transaction stored before the lock.
      const after = before ? await this.lock(manager, key) : await manager.findOneBy(this.entity, key);
      if (after) verify?.(after);
      if (before && after && wanted) await besidesOf(wanted)?.(manager, [{ before, after }]);
      if (after) await alongside?.(manager, after);
      if (before && after) note?.({ before, after });
      return after;
    });
  }

  /** Returns whether the record existed. If it did, `alongside` runs. Throws what `expect` throws for the record. */
  delete(
    caller: Caller,
    id: bigint,
    alongside: Alongside<bigint>,
    { expect }: Pick<Checks<Row>, 'expect'> = {},
  ): Promise<boolean> {
    const preparation = this.preparationOf(caller.projectId, { deleted: id });
    const besides = needing(this.besides, { deleted: id });
    const isTogether = alongside !== null || expect !== undefined || besides !== null;
    return this.write(caller, isTogether, preparation, async (manager, note) => {
      const key = keyOf<Row>(caller.projectId, id);
      const before = (note || expect || besides) && (await this.lock(manager, key));
      if (before) expect?.(before);
      if (before) await besides?.(manager, [{ before, after: null }]);
      const { affected } = await manager.delete(this.entity, key);
      if (affected === 1) await alongside?.(manager, id);
      if (before) note?.({ before, after: null });
      return affected === 1;
    });
  }

  /** Returns the record that `insert` has inserted; null = it has inserted none. Throws as `insertAll`. */
  insertBy(
    caller: Caller,
    id: bigint,
    insert: (manager: EntityManager) => Promise<boolean>,
    alongside: Alongside<Row>,
  ): Promise<Row | null> {
    return this.write(caller, true, null, async (manager, note) => {
      if (!(await insert(manager))) return null;
      const inserted = await manager.findOneBy(this.entity, keyOf<Row>(caller.projectId, id));
      if (!inserted) return null;
      const lost = await this.lostBy(manager, inserted);
      const after = { ...inserted, ...lost };
      if (Object.keys(lost).length > 0)
        await manager.update(
          this.entity,
          keyOf<Row>(caller.projectId, id),
          lost as QueryDeepPartialEntity<Row>,
        );
      await needing(this.besides, { created: [after], nameOf: undefined })?.(manager, created([after]));
      await alongside?.(manager, after);
      note?.({ before: null, after });
      return after;
    });
  }

  /** The values that a record, which comes back, has lost meanwhile. Throws if it cannot come back. */
  protected async lostBy(_manager: EntityManager, _inserted: Row): Promise<Partial<Row>> {
    return {};
  }

  private preparationOf(projectId: bigint, write: PlannedWrite<Row>): Preparation | null {
    return this.preparing?.(projectId, write) ?? null;
  }

  protected get repository() {
    return this.db.repository(this.entity);
  }

  /** The rows of a select, and the cursor of the change log at the same moment: one statement has one snapshot. */
  protected async readWithCursor<R>(projectId: bigint, select: string, values: readonly unknown[]) {
    const sql = `SELECT CAST(log.number AS CHAR) AS logNumber, CAST(log.at_ms AS CHAR) AS logAtMs, page.*
      FROM change_logs AS log LEFT JOIN (${select}) AS page ON TRUE WHERE log.project_id = ?`;
    type WithLog = R & { logNumber: string; logAtMs: string; id: unknown };
    const rows = await this.db.readList<WithLog>(String(projectId), sql, [...values, projectId]);
    const [log] = rows;
    const changesCursor = log ? cursorOf({ number: Number(log.logNumber), atMs: Number(log.logAtMs) }) : null;
    // An empty page has the log alone.
    return { rows: rows.filter(({ id }) => id !== null), changesCursor };
  }

  /** Without a log or something alongside, a transaction would only add two statements. `note` logs a change. */
  private write<T>(
    { projectId, changesSinceMs, mayWrite }: Caller,
    isTogether: boolean,
    preparation: Preparation | null,
    work: (manager: EntityManager, note: ((change: RecordChange<Row>) => void) | null) => Promise<T>,
  ): Promise<T> {
    const run = () => {
      if (changesSinceMs !== null) {
        const logged = async (manager: EntityManager, changes: WrittenChange[]) => {
          await preparation?.run(manager, (others) => changes.push(...others));
          return work(manager, (change) => changes.push(...this.changes.written(change)));
        };
        return this.feeds.log.write(projectId, logged, mayWrite);
      }
      const alone = async (manager: EntityManager) => {
        await preparation?.run(manager, null);
        return work(manager, null);
      };
      return isTogether || preparation
        ? this.db.transaction(alone, mayWrite)
        : this.db.connected(alone, mayWrite);
    };
    const others = preparation?.versions ?? [];
    return [this.versions, ...others].reduceRight(
      (write, versions) => () => versions.change(projectId, write),
      run,
    )();
  }

  /** The record before a write; no other transaction changes it until the end of this one. */
  private lock(manager: EntityManager, where: FindOptionsWhere<Row>): Promise<Row | null> {
    return manager.findOne(this.entity, { where, ...this.db.forUpdate });
  }
}

/** Writes all that stands beside the records of a write; null = nothing does. */
export function needing<Row>(
  besides: readonly Beside<Row>[],
  write: PlannedWrite<Row>,
): Beside<Row>['run'] | null {
  const needed = besides.filter((each) => each.needs(write));
  if (needed.length === 0) return null;
  return async (manager, changes) => {
    for (const each of needed) await each.run(manager, changes);
  };
}

/** New records as changes. */
export function created<Row>(rows: readonly Row[]): RecordChange<Row>[] {
  return rows.map((after) => ({ before: null, after }));
}

function keyOf<Row extends ProjectRow>(projectId: bigint, id: bigint): FindOptionsWhere<Row> {
  return { projectId, id } as FindOptionsWhere<Row>;
}
