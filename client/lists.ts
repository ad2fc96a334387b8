import type { CallOptions, Calls } from './calls.js';
import type { Operation } from './description.js';
import { pause } from './pause.js';
import { searchOf } from './request.js';

/** Every item of a list, page after page. */
export interface Pages<Item> extends AsyncIterable<Item> {
  /** Where the changes after the first page begin; undefined before it is read, and while the change log is off. */
  readonly changesCursor: string | undefined;
}

/** Every change, each once and in order, without an end: leave the loop with `break`, or abort the signal. */
export interface Changes<Change> extends AsyncIterable<Change> {
  /** Behind the last change that the loop was given. Store it after the work, and continue from it: `changes({ after })`. */
  readonly cursor: string | undefined;
}

export interface FollowOptions extends CallOptions {
  /** The pause while there are no new changes: 10 by default. Each look costs one unit of the quota. */
  everySeconds?: number | undefined;
}

/** `after` is a cursor; without it the changes begin with the oldest that is kept. */
export type ChangesQuery = { after?: string; limit?: number } | undefined;

const LARGEST_PAGE = 100;
const LOOK_EVERY_SECONDS = 10;

export function pages(
  calls: Calls,
  operation: Operation,
  query?: object,
  options?: CallOptions,
): Pages<unknown> {
  let changesCursor: string | undefined;
  return {
    get changesCursor() {
      return changesCursor;
    },
    async *[Symbol.asyncIterator]() {
      let search = searchOf({ limit: LARGEST_PAGE, ...query });
      for (let isFirst = true; ; isFirst = false) {
        const { value, headers } = await calls.send(
          { operation, path: operation.path, search, body: undefined },
          options,
        );
        if (isFirst) changesCursor = cursorOf(headers);
        yield* value as unknown[];
        const next = nextSearch(headers);
        if (next === undefined) return;
        search = next;
      }
    },
  };
}

/** The header begins with the name of the gateway. */
function cursorOf(headers: Headers): string | undefined {
  for (const [name, value] of headers) if (name.endsWith('-changes-cursor')) return value;
  return undefined;
}

export function follow(
  calls: Calls,
  operation: Operation,
  { after, limit = LARGEST_PAGE, ...filters }: NonNullable<ChangesQuery> = {},
  { everySeconds = LOOK_EVERY_SECONDS, ...options }: FollowOptions = {},
): Changes<unknown> {
  let cursor = after;
  return {
    get cursor() {
      return cursor;
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const search = searchOf({ ...filters, limit, cursor });
        const { value, headers } = await calls.send(
          { operation, path: operation.path, search, body: undefined },
          options,
        );
        const changes = value as { cursor: string }[];
        for (const change of changes) {
          cursor = change.cursor;
          yield change;
        }
        cursor = new URLSearchParams(nextSearch(headers)).get('cursor') ?? cursor;
        if (changes.length < limit) await pause(calls.clock, everySeconds * 1000, options.signal);
      }
    },
  };
}

/**
 * The query of the next page; undefined = this is the last one. Only the query: behind a proxy the gateway may not know its
 * address, and the key must not follow a link to elsewhere.
 */
function nextSearch(headers: Headers): string | undefined {
  const [, url] = /<([^>]*)>[^<]*?rel="?next/.exec(headers.get('link') ?? '') ?? [];
  return url && new URL(url, 'http://localhost').search;
}
