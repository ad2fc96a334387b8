import { isAhead } from './duration.js';
import { AppError } from './errors.js';

/** Each noun has `books:read` and `books:write`, and one for each of its actions, such as `books:lend`. */
export type NounScope = `${string}:${string}`;
export type Scope = NounScope | 'domains' | 'keys';

/** Of all scopes of a key, joined by commas. */
export const MAX_SCOPES_LENGTH = 4_000;

/** The scopes that the keys of a gateway can have. */
export class Scopes {
  readonly all: readonly Scope[];

  constructor(readonly ofNouns: readonly NounScope[]) {
    this.all = [...this.ofNouns, 'domains', 'keys'];
  }

  /** The scopes among these that the gateway has, each once and in its order. */
  known(scopes: readonly string[]): Scope[] {
    return this.all.filter((scope) => scopes.includes(scope));
  }
}

/** Units a plan allows per UTC minute and UTC day; `perDay` null = no day window, as for addresses. Spec: Limits. */
export interface Quota {
  readonly perMinute: number;
  readonly perDay: number | null;
}

/** The caller, as identified by the API key. The only source of a project id: it never comes from input. */
export interface Caller {
  readonly keyId: bigint;
  readonly projectId: bigint;
  readonly quota: Quota;
  readonly scopes: ReadonlySet<Scope>;
  /** Whether the key may request simulated refusals on staging, to test a client's back-off. */
  readonly rehearses: boolean;
  /** When the project's change log opens, as milliseconds since 1970; null = it is off. */
  readonly changesSinceMs: number | null;
  /** Of the request, if the caller acts through one. */
  readonly mayWrite?: MayWrite | undefined;
}

/** Throws `AppError forbidden` unless the caller's key has the scope. */
export function requireScope(caller: Caller, scope: Scope): void {
  if (caller.scopes.has(scope)) return;
  throw new AppError('forbidden', `This API key lacks the scope ${scope}. Use a key that has it.`);
}

/** Longer than a request, with the age of its cached key, can run: before a change log opens, every process writes it. */
export const LOG_OPENING_MS = 15_000;

/** Whether every process writes the change log of the caller's project, so that its cursors can be followed. */
export function hasOpenLog({ changesSinceMs }: Pick<Caller, 'changesSinceMs'>, nowMs: number): boolean {
  return changesSinceMs !== null && !isAhead(changesSinceMs, nowMs, LOG_OPENING_MS);
}

/**
 * For a change: throws `AppError forbidden` when a caller without the scope `<plural>:read` would see fields that it did not
 * send. `fields` are the fields of the answer. D-19.
 */
export function requireAnswerable(
  caller: Caller,
  plural: string,
  { changes, fields }: { changes: object; fields: Iterable<string> },
): void {
  if (caller.scopes.has(`${plural}:read`)) return;
  const hidden = [...fields].filter((field) => field !== 'id' && !(field in changes));
  if (hidden.length === 0) return;
  const message = `This API key lacks the scope ${plural}:read, which the answer needs for ${hidden.join(', ')}. Request only id and the changed fields, or use a key that has the scope. Nothing was changed.`;
  throw new AppError('forbidden', message);
}

/** The subject of an act in the audit log: `name` as the log shows it, and the HTTP request if there is one. */
export interface Actor {
  readonly name: string;
  readonly requestId: string | null;
  readonly mayWrite?: MayWrite | undefined;
}

export interface IdempotencyKey {
  readonly text: string;
  /** Called when a repeated request gets the stored answer. */
  onReplay(): void;
}

/** First argument of every service method that acts for a caller. */
export interface ServiceCall {
  readonly caller: Caller;
  readonly actor: Actor;
  /** The client's Idempotency-Key; null = a repeated request acts again. */
  readonly idempotencyKey: IdempotencyKey | null;
}

/** The call of a request that an API key authenticates. */
export function serviceCall(
  caller: Caller,
  { requestId, mayWrite }: Pick<Actor, 'requestId' | 'mayWrite'>,
  idempotencyKey: IdempotencyKey | null,
): ServiceCall {
  const { keyId, projectId, quota, scopes, rehearses, changesSinceMs } = caller;
  return {
    // Spread, it would cost each request 2 µs.
    caller: { keyId, projectId, quota, scopes, rehearses, changesSinceMs, mayWrite },
    actor: { name: `key:${keyId}`, requestId, mayWrite },
    idempotencyKey,
  };
}

/**
 * Whether the request of a write still waits for its answer, with time enough to do it. Otherwise it is not done. D-237.
 */
export type MayWrite = () => boolean;

/** For writes that no request waits for. */
export const ALWAYS: MayWrite = () => true;

/** Throws `AppError unavailable` unless the write may be done. */
export function requireWaiting(mayWrite: MayWrite): void {
  if (!mayWrite()) throw tookTooLong();
}

export function tookTooLong(): AppError {
  return new AppError(
    'unavailable',
    'The request took too long, so this change was not begun. Try again shortly.',
  );
}
