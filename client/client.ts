import { type CallOptions, Calls, requireSeconds, type Settings } from './calls.js';
import type { Description, Operation } from './description.js';
import { type ChangesQuery, follow, pages } from './lists.js';
import { SYSTEM_CLOCK } from './pause.js';
import { requestOf } from './request.js';

export type { CallOptions } from './calls.js';
export type { Description } from './description.js';
export { ApiError, Gone, WaitTooLong } from './errors.js';
export type { Changes, FollowOptions, Pages } from './lists.js';
export type { Clock } from './pause.js';

export type ClientOptions = { [Name in keyof Settings]?: Settings[Name] | undefined } & Pick<
  Settings,
  'apiKey'
>;

/**
 * A client of the gateway that a generated file describes: `npx petstore types <url> -o petstore.ts`.
 * It waits for `Retry-After`, repeats what is safe to repeat, and keeps every digit of 64-bit integers, as `bigint`.
 */
export function createClient<Api extends object>(
  description: Description<Api>,
  {
    apiKey,
    baseUrl = description.baseUrl,
    waitAtMostSeconds = 60,
    timeoutSeconds = 30,
    fetch = (...request) => globalThis.fetch(...request),
    clock = SYSTEM_CLOCK,
  }: ClientOptions,
): Api {
  requireSeconds('timeoutSeconds', timeoutSeconds);
  // In a page a path is enough.
  const { location } = globalThis as { location?: { href: string } };
  if (!URL.canParse(baseUrl, location?.href)) throw new TypeError(`baseUrl is no address: ${baseUrl}`);
  const address = new URL(baseUrl, location?.href).href.replace(/\/+$/, '');
  const settings = { apiKey, waitAtMostSeconds, timeoutSeconds, fetch, clock, baseUrl: address };
  const calls = new Calls(settings, description.shapes);
  const api: Record<string, unknown> = {};
  for (const [id, operation] of Object.entries(description.operations)) {
    const call = methodOf(calls, operation);
    api[id] = call;
    const [group, name] = operation.as?.split('.') ?? [];
    if (group === undefined || name === undefined) continue;
    const resource = (api[group] ?? {}) as Record<string, unknown>;
    api[group] = resource;
    resource[name] = call;
    if (name === 'list')
      resource.all = (query: object, own?: CallOptions) => pages(calls, operation, query, own);
    if (name === 'changes') {
      resource.changes = (query: ChangesQuery, own?: CallOptions) => follow(calls, operation, query, own);
    }
  }
  return api as Api;
}

function methodOf(calls: Calls, operation: Operation) {
  return async (...values: unknown[]) => {
    const { request, options } = requestOf(operation, calls.shapes, values);
    return (await calls.send(request, options)).value;
  };
}
