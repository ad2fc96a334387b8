import type { IdGenerator } from '../ids.js';
import { isDuplicateId } from './database-errors.js';

/** Each draw leaps about 1,000 ids, so many collisions in a row are a fault and not chance. */
const MAX_DRAWS = 20;

/**
 * Runs `insert` with a drawn id, and again with another one while the primary key refuses the id: another process drew it
 * in the same millisecond. In a transaction `insert` is one statement, which the database undoes alone.
 */
export async function withDrawnId<T>(
  ids: IdGenerator,
  insert: (id: bigint) => Promise<T>,
  firstId = ids.next(),
): Promise<T> {
  let id = firstId;
  for (let draw = 1; ; draw += 1) {
    try {
      return await insert(id);
    } catch (error) {
      if (!isDuplicateId(error) || draw === MAX_DRAWS) throw error;
      id = ids.nextFurther();
    }
  }
}

/** As `withDrawnId`, for rows that are inserted together: all of them get other ids. */
export function withDrawnIds<T>(
  ids: IdGenerator,
  count: number,
  insert: (drawn: bigint[]) => Promise<T>,
): Promise<T> {
  return withDrawnId(ids, (first) =>
    insert(Array.from({ length: count }, (_, index) => (index === 0 ? first : ids.next()))),
  );
}
