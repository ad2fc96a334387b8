import { Column, Entity, type EntityManager, PrimaryColumn } from 'typeorm';
import { ID, text } from './columns.js';
import type { Database } from './database.js';

/**
 * Counters whose row serves as a lock for all processes: `hosts` numbers changes of served hosts, `orders` counts orders.
 * Each `b:…` is the number of the last batch that a writer stored: see `Batches`.
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
