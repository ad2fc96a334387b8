import { randomBytes } from 'node:crypto';
import { Column, type DataSource, Entity, type EntityManager, LessThan, Like, PrimaryColumn } from 'typeorm';
import { DAY_MS } from '../kernel/duration.js';
import { ASK_CLUSTER, softwareOf } from './cluster/strict-session.js';
import { ID, text } from './columns.js';
import type { Database } from './database.js';
import { isDuplicateId } from './database-errors.js';

/**
 * Counters whose row serves as a lock for all processes: `hosts` numbers changes of served hosts, `orders` counts orders.
 * Each `b:…` is the number of the last batch that a writer stored: see `Batches`. Each `t:…` is a turn of a project: see
 * `takeTurn`. `ids` is the mark of `IdMark`. `restored` is the time of the last restore: see `RESTORED`.
 */
@Entity('change_sequences')
export class ChangeSequence {
  @PrimaryColumn(text(16))
  name!: string;

  @Column(ID)
  value!: bigint;
}

const NAME = 'hosts';

/**
 * The number for the rows that this transaction changes. The counter's row stays locked until the transaction ends, so
 * numbers become visible in order: a reader that sees a number has seen all lower ones. Time stamps and auto-increment do
 * not guarantee this. For rare changes only. D-61.
 */
export async function nextChange(manager: EntityManager): Promise<bigint> {
  const known = drawn.get(manager);
  if (known !== undefined) return known;
  const value = await increment(manager);
  drawn.set(manager, value);
  return value;
}

/** A single statement, because others wait for the row. */
async function increment(manager: EntityManager): Promise<bigint> {
  const statement = (value: string) => `UPDATE change_sequences SET value = ${value} WHERE name = '${NAME}'`;
  if (manager.dataSource.options.type === 'better-sqlite3') {
    const [row] = await manager.query(`${statement('value + 1')} RETURNING value`);
    return BigInt(row.value);
  }
  const { insertId } = await manager.query(statement('LAST_INSERT_ID(value + 1)'));
  return BigInt(insertId);
}

/** The number of each transaction, shared by all its changes. */
const drawn = new WeakMap<EntityManager, bigint>();

/** The number of the newest visible change. All lower numbers are visible too. */
export async function newestChange(db: Database): Promise<bigint> {
  const { value } = await db.repository(ChangeSequence).findOneByOrFail({ name: NAME });
  return value;
}

/**
 * The row whose value is the time, in milliseconds, at which the database was filled from another one or a backup. At another
 * node a client's newest change may be missing for a moment. Only one from before this time is lost. D-287.
 */
export const RESTORED = 'restored';

const clusters = new WeakMap<DataSource, boolean>();

/** Whether the database has several nodes, Galera's or Group Replication's. Each answers and locks for itself. */
export async function isCluster(manager: EntityManager): Promise<boolean> {
  const { dataSource } = manager;
  if (dataSource.options.type === 'better-sqlite3') return false;
  const known = clusters.get(dataSource) ?? softwareOf(await manager.query(ASK_CLUSTER)) !== null;
  clusters.set(dataSource, known);
  return known;
}

/**
 * On a cluster, lets the project's transactions that call this, before they read, be committed one after the other: the loser
 * at another node runs again. Elsewhere the locks of the rows that they read do so. D-286.
 */
export async function takeTurn(manager: EntityManager, projectId: bigint): Promise<void> {
  if (!(await isCluster(manager))) return;
  const sql =
    'INSERT INTO change_sequences (name, value) VALUES (?, 1) ON DUPLICATE KEY UPDATE value = value + 1';
  await manager.query(sql, [`t:${projectId.toString(36)}`]);
}

const PREFIX = 'b:';
/** The time in which a process may repeat a batch. */
const KEPT_MS = 35 * DAY_MS;

/**
 * D-174. Stores each batch of one writer exactly once, also when the answer of its COMMIT gets lost. The transaction stores
 * the number of the batch, too, in a row of the writer.
 */
export class Batches {
  private readonly name = `${PREFIX}${randomBytes(7).toString('hex')}`;
  private last = 0;
  /** The number of the batch that is being stored, or whose outcome is unknown. */
  private current: number | null = null;

  constructor(
    private readonly db: Database,
    private readonly now: () => number,
  ) {}

  /** Runs `work` in a transaction. After a rejection the next call must bring the same batch. */
  async store(work: (manager: EntityManager) => Promise<void>): Promise<void> {
    const { name } = this;
    const number = this.current ?? Math.max(this.last + 1, this.now());
    this.current = number;
    const value = BigInt(number);
    await this.db.transaction(async (manager) => {
      // Waits for the row while an earlier attempt may still be committed.
      if (await isRaised(manager, { name, value })) await work(manager);
    });
    this.last = number;
    this.current = null;
  }
}

/**
 * False = the counter has this value already, or a higher one. A read would begin the snapshot of MySQL's transaction, before
 * it has taken its locks.
 */
export async function isRaised(manager: EntityManager, row: ChangeSequence): Promise<boolean> {
  const { name, value } = row;
  const { affected } = await manager.update(ChangeSequence, { name, value: LessThan(value) }, { value });
  if (affected === 1) return true;
  try {
    await manager.insert(ChangeSequence, row);
    return true;
  } catch (error) {
    if (isDuplicateId(error)) return false;
    throw error;
  }
}

/** Deletes the rows of writers that have stored nothing for 35 days: their processes have ended. */
export async function deleteOldWriters(db: Database, nowMs: number): Promise<void> {
  const value = LessThan(BigInt(nowMs - KEPT_MS));
  await db.write(() => db.repository(ChangeSequence).delete({ name: Like(`${PREFIX}%`), value }));
}
