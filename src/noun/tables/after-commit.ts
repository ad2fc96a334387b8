import { type EntitySchemaOptions, LessThanOrEqual, type TableOptions } from 'typeorm';
import { COUNT, ID, INTEGER, TIME_MS } from '../../ground/database/columns.js';
import type { Database } from '../../ground/database/database.js';
import { isDuplicate } from '../../ground/database/database-errors.js';
import type { Capability, Chore } from '../../ground/kernel/capability.js';
import { AppError } from '../../ground/kernel/errors.js';
import type { ChangeRow } from '../../ground/records/change-log.entity.js';
import type { ChangeLog } from '../../ground/records/change-log.js';
import type { NounChanges } from '../../ground/records/noun-changes.js';
import { cursorOf, type Position } from '../../ground/records/position.js';
import type { CommittedChange } from '../definition/hook.js';
import type { NounModel } from '../definition/model.js';
import type { NounRow } from '../records/row.js';

const EVERY_MS = 1_000;
/** A shutdown waits for the end of a pass. */
const PASS_MS = 1_000;
const MOST_PROJECTS = 20;
const MOST_CHANGES = 100;
/** Longer than a call, or two processes would work on a project. */
const LEASE_MS = 60_000;
const CALL_MS = 30_000;
const LONGEST_PAUSE_MS = 300_000;

/** How far a project's changes were given to the hook. The row is a lease too. */
export interface Progress {
  projectId: bigint;
  number: number;
  atMs: number;
  lockedUntilMs: number;
  failures: number;
  nextAtMs: number;
}

/**
 * Calls the hook `afterCommit` of a noun with each change of the log: at least once, in the order of the commits of a project.
 * After a failure the project waits longer each time, and others go on. D-279.
 */
export class AfterCommit implements Capability {
  readonly chores: readonly Chore[];

  constructor(
    private readonly model: NounModel,
    private readonly entity: new () => Progress,
    private readonly db: Database,
    private readonly log: ChangeLog,
    private readonly changes: NounChanges<NounRow>,
  ) {
    const name = `afterCommit of ${model.description.plural}`;
    this.chores = [{ name, everyMs: EVERY_MS, work: async (isEnd) => isEnd || this.work() }];
  }

  /** Throws the last failure of the hook, once every project had its turn. */
  async work(): Promise<void> {
    const endMs = this.log.now() + PASS_MS;
    const isOver = () => this.log.now() > endMs;
    let failure: unknown = null;
    for (const projectId of await this.waiting()) {
      if (isOver()) break;
      failure = (await this.serve(projectId, isOver)) ?? failure;
    }
    if (failure !== null) throw failure;
  }

  /** The projects with changes for the hook: the one that waits longest first. */
  private async waiting(): Promise<bigint[]> {
    const nowMs = this.log.now();
    const rows = await this.db.execute<{ projectId: string }>(
      `SELECT CAST(log.project_id AS CHAR) AS projectId FROM change_logs AS log
        LEFT JOIN ${nameOf(this.model)} AS done ON done.project_id = log.project_id
        WHERE log.opens_at_ms IS NOT NULL AND log.number > COALESCE(done.number, 0)
          AND COALESCE(done.next_at_ms, 0) <= ? AND COALESCE(done.locked_until_ms, 0) <= ?
        ORDER BY COALESCE(done.locked_until_ms, 0), log.project_id LIMIT ${MOST_PROJECTS}`,
      [nowMs, nowMs],
    );
    return rows.map(({ projectId }) => BigInt(projectId));
  }

  /** Returns the failure of the hook; null = there was none. */
  private async serve(projectId: bigint, isOver: () => boolean): Promise<unknown> {
    const lease = await this.claim(projectId);
    if (!lease) return null;
    let position: Position | null = lease.number === 0 ? null : lease;
    let key = '';
    try {
      const rows = await this.rowsBehind(projectId, position);
      for (const row of rows) {
        const committed = this.committed(row);
        key = committed?.key ?? '';
        if (committed) await this.call(committed);
        position = { number: row.number, atMs: row.atMs };
        // Each change at once: a crash repeats one.
        if (committed && !(await this.store(lease, position))) return null;
        if (isOver()) break;
      }
      if (rows.length === 0) position = await this.log.newest(projectId);
      await this.release(lease, { ...(position ?? {}), failures: 0, nextAtMs: 0 });
      return null;
    } catch (error) {
      const failures = lease.failures + 1;
      const pauseMs = Math.min(LONGEST_PAUSE_MS, EVERY_MS * 2 ** Math.min(failures, 20));
      await this.release(lease, { ...(position ?? {}), failures, nextAtMs: this.log.now() + pauseMs });
      const change = key && ` at the change ${key}`;
      const { message } = error as Error;
      return new Error(`project ${projectId}${change}, failure ${failures}: ${message}`, { cause: error });
    }
  }

  /** After a restored backup, or a week without the hook, the changes begin with the oldest that is kept. */
  private async rowsBehind(projectId: bigint, position: Position | null): Promise<ChangeRow[]> {
    try {
      return await this.log.after(projectId, position, MOST_CHANGES);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'gone') throw error;
      return this.log.after(projectId, null, MOST_CHANGES);
    }
  }

  private async call(change: CommittedChange): Promise<void> {
    const { afterCommit } = this.model;
    const signal = AbortSignal.timeout(CALL_MS);
    const tooLong = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    await Promise.race([afterCommit?.(change as never, { signal }), tooLong]);
  }

  /** Null = the change of another noun. */
  private committed(row: ChangeRow): CommittedChange | null {
    const found = this.changes.changeIn(row);
    if (!found) return null;
    const { change, before } = found;
    const shared = { key: cursorOf(row), at: new Date(row.atMs).toISOString() };
    const record = Object.freeze(change.record);
    if (change.kind === 'created') return { ...shared, kind: 'create', before: null, after: record };
    if (change.kind === 'deleted') return { ...shared, kind: 'delete', before: record, after: null };
    return { ...shared, kind: 'update', before: Object.freeze(before), after: record };
  }

  private async claim(projectId: bigint): Promise<Progress | null> {
    const nowMs = this.log.now();
    const first = { projectId, number: 0, atMs: 0, lockedUntilMs: 0, failures: 0, nextAtMs: 0 };
    if (!(await this.rows.findOneBy({ projectId }))) {
      await this.db
        .write(() => this.rows.insert(first))
        .catch((error) => {
          // Another process was faster.
          if (!isDuplicate(error)) throw error;
        });
    }
    const lockedUntilMs = nowMs + LEASE_MS;
    const free = { projectId, lockedUntilMs: LessThanOrEqual(nowMs) };
    const { affected } = await this.db.write(() => this.rows.update(free, { lockedUntilMs }));
    return affected === 1 ? this.rows.findOneBy({ projectId, lockedUntilMs }) : null;
  }

  /** Returns false if another process has the lease now. */
  private async store(lease: Progress, { number, atMs }: Position): Promise<boolean> {
    const { projectId, lockedUntilMs } = lease;
    const renewedMs = Math.max(this.log.now() + LEASE_MS, lockedUntilMs + 1);
    const held = { projectId, lockedUntilMs };
    const { affected } = await this.db.write(() =>
      this.rows.update(held, { number, atMs, lockedUntilMs: renewedMs }),
    );
    lease.lockedUntilMs = renewedMs;
    return affected === 1;
  }

  private async release({ projectId, lockedUntilMs }: Progress, end: Partial<Progress>): Promise<void> {
    const held = { projectId, lockedUntilMs };
    await this.db.write(() => this.rows.update(held, { ...end, lockedUntilMs: this.log.now() }));
  }

  private get rows() {
    return this.db.repository(this.entity);
  }
}

const nameOf = ({ table }: NounModel) => `committed_${table}`;

/** Its table, for migrations and for TypeORM. */
export function afterCommitTableOf(model: NounModel) {
  const name = nameOf(model);
  const Row = class {} as unknown as new () => Progress;
  const numbers = {
    number: COUNT,
    atMs: TIME_MS,
    lockedUntilMs: TIME_MS,
    failures: INTEGER,
    nextAtMs: TIME_MS,
  };
  const columnOf = (property: string) => property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const definition: TableOptions & { name: string } = {
    name,
    withoutRowid: true,
    columns: [
      { name: 'project_id', type: 'bigint', isPrimary: true },
      ...Object.entries(numbers).map(([property, { type }]) => ({ name: columnOf(property), type })),
    ],
  };
  const columns = Object.entries(numbers).map(([property, column]) => [
    property,
    { ...column, name: columnOf(property) },
  ]);
  const schema = {
    name: `Committed${model.description.type}`,
    target: Row,
    tableName: name,
    withoutRowid: true,
    columns: { projectId: { ...ID, name: 'project_id', primary: true }, ...Object.fromEntries(columns) },
  } as EntitySchemaOptions<{ projectId: bigint }>;
  return { Row, schema, definition };
}
