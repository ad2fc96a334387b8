import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import type { DatabaseTarget } from '../config/config.js';
import { type DatabaseSchema, withDataSource } from '../database/data-source.js';
import { openProblem } from '../database/database-errors.js';
import { insertRows } from '../database/insert-rows.js';
import { migrate } from '../database/migrate.js';
import { AppError } from '../kernel/errors.js';
import { isSameDatabase } from '../migrations/plan/migration-plan.js';
import { CopyTarget } from './copy-target.js';
import { Snapshot } from './snapshot.js';

/** Emptying a large table takes long. */
const TARGET = { poolSize: 1, queryTimeoutMs: 3_600_000, exactIntegers: false };
/** At most 65 MB: below the limits of group replication and of TiDB. */
const TRANSACTION_PAGES = 5;

interface Copy {
  from: DatabaseTarget;
  into: DatabaseTarget;
  /** Deletes all rows of the target first. */
  isForced: boolean;
  /** ISO 8601. */
  startedAt: string;
  /** Ends the copy with its reason between two pages. The target keeps its mark. */
  signal: AbortSignal;
  onProgress(rows: number, total: number): void;
}

/**
 * Copies every table as it is at one moment, and returns the number of rows of each. Throws `AppError` before the first
 * write when the target has rows, or when one of the databases is not of this release.
 */
export async function copyDatabase(schema: DatabaseSchema, copy: Copy): Promise<Record<string, number>> {
  const { from, into, isForced, startedAt } = copy;
  const source = await Snapshot.open(from, schema);
  try {
    if (await isSameDatabase(from, into)) {
      throw new AppError('invalid_request', '--from and --into name the same database.');
    }
    return await withDataSource(into, schema, TARGET, async (data) => {
      const target = new CopyTarget(data, { source: shownUrl(from), startedAt });
      await target.begin(isForced);
      await migrate(into, schema, { isCopy: true });
      // The migrations themselves add rows.
      await target.empty();
      const counts = await source.counts();
      await load(source, data, { ...copy, total: sumOf(counts) });
      await target.end(counts);
      return counts;
    });
  } catch (error) {
    if (error instanceof AppError || copy.signal.aborted) throw error;
    throw new AppError('unavailable', `The database ${openProblem(into, error)}.`, { cause: error });
  } finally {
    await source.close();
  }
}

async function load(
  source: Snapshot,
  data: DataSource,
  { signal, onProgress, total }: Copy & { total: number },
): Promise<void> {
  const runner = data.createQueryRunner();
  let rows = 0;
  for (const table of source.tables) {
    const entity = table.target as new () => object;
    let pages = 0;
    await runner.startTransaction();
    for await (const page of source.pages(table)) {
      // SQLite's driver never waits, and a signal arrives between two turns of the event loop.
      await nextTurn();
      signal.throwIfAborted();
      await insertRows(runner.manager, entity, page);
      pages += 1;
      if (pages % TRANSACTION_PAGES === 0) await commitAndGoOn(runner);
      rows += page.length;
      onProgress(rows, total);
    }
    await runner.commitTransaction();
  }
  await runner.release();
}

async function commitAndGoOn(runner: QueryRunner): Promise<void> {
  await runner.commitTransaction();
  await runner.startTransaction();
}

export function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** In the form of `DATABASE_URL`, without user and password. */
export function shownUrl(target: DatabaseTarget): string {
  if (target.kind === 'sqlite') return `sqlite:${target.path}`;
  const { host, pathname } = new URL(target.url);
  return `${target.kind}://${host}${pathname}`;
}
