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
  await manager.increment(ChangeSequence, { name: NAME }, 'value', 1);
  const { value } = await manager.findOneByOrFail(ChangeSequence, { name: NAME });
  drawn.set(manager, value);
  return value;
}

/** A transaction has one number, for all it changes. */
const drawn = new WeakMap<EntityManager, bigint>();

/** The number of the newest change that is visible: all changes up to it are. */
export async function newestChange(db: Database): Promise<bigint> {
  const { value } = await db.repository(ChangeSequence).findOneByOrFail({ name: NAME });
  return value;
}
