import { Column, Entity, type EntityManager, PrimaryColumn } from 'typeorm';
import { ID, text } from './columns.js';
import type { Database } from './database.js';

/** Counters whose row is the turn of all processes: of changes that everybody follows, and of orders that are counted. */
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
 * numbers become visible in their order: whoever has seen one has seen all below it, which time stamps or an
 * auto-increment do not promise. For rare changes only.
 */
export async function nextChange(manager: EntityManager): Promise<bigint> {
  const known = drawn.get(manager);
  if (known !== undefined) return known;
  const value = await increment(manager);
  drawn.set(manager, value);
  return value;
}

/** One statement, as it runs while others wait for the row. */
async function increment(manager: EntityManager): Promise<bigint> {
  const statement = (value: string) => `UPDATE change_sequences SET value = ${value} WHERE name = '${NAME}'`;
  if (manager.dataSource.options.type === 'better-sqlite3') {
    const [row] = await manager.query(`${statement('value + 1')} RETURNING value`);
    return BigInt(row.value);
  }
  const { insertId } = await manager.query(statement('LAST_INSERT_ID(value + 1)'));
  return BigInt(insertId);
}

/** A transaction has one number, for all it changes. */
const drawn = new WeakMap<EntityManager, bigint>();

/** The number of the newest change that is visible: all changes up to it are. */
export async function newestChange(db: Database): Promise<bigint> {
  const { value } = await db.repository(ChangeSequence).findOneByOrFail({ name: NAME });
  return value;
}
