import type { IdGenerator } from '../kernel/ids.js';
import { isDuplicateId } from './database-errors.js';

/** Each draw skips about 1,000 ids, so many collisions in a row are a fault, not chance. */
const MAX_DRAWS = 20;

/**
 * Runs `insert` with a drawn id, and retries with another id while the primary key is taken: another process drew it in the
 * same millisecond. In a transaction, `insert` must be one statement, because the database undoes only that. D-2.
 */
export function withDrawnId<T>(ids: IdGenerator, insert: (id: bigint) => Promise<T>): Promise<T> {
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
