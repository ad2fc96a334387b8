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

/** The position that this change directly follows. */
export function before({ number, previousAtMs }: Position & { readonly previousAtMs: number }): Position {
  return { number: number - 1, atMs: previousAtMs };
}
