import { AppError } from '../kernel/errors.js';

/**
 * A place in a change log: behind the change with this number and time. The time tells it from a change that had the same
 * number before the database was restored from a backup.
 */
export interface Position {
  readonly number: number;
  readonly atMs: number;
}

const CURSOR = /^c:(\d{1,15})\.(\d{1,15})$/;

/** The cursor of a position, as clients keep it. */
export function cursorOf({ number, atMs }: Position): string {
  return Buffer.from(`c:${number}.${atMs}`).toString('base64url');
}

/** Null = a text that `cursorOf` did not return. */
export function positionIn(cursor: string): Position | null {
  const [, number, atMs] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const position = { number: Number(number), atMs: Number(atMs) };
  return number !== undefined && cursorOf(position) === cursor ? position : null;
}

export function isSame(a: Position, b: Position): boolean {
  return a.number === b.number && a.atMs === b.atMs;
}

/** Whether no change is between the position and this one. */
export function isNext(
  { number, atMs }: Position,
  next: Position & { readonly previousAtMs: number },
): boolean {
  return next.number === number + 1 && next.previousAtMs === atMs;
}

/** Throws `AppError gone` unless `next` follows the position; without a `next` the position must be the newest. */
export function requireNext(
  position: Position,
  next: Parameters<typeof isNext>[1] | null,
  newest: Position,
): void {
  if (next ? isNext(position, next) : isSame(position, newest)) return;
  const advice = 'List again, then follow from the changesCursor of that list.';
  throw new AppError('gone', `The change log does not reach back to this cursor. ${advice}`, { advice });
}
