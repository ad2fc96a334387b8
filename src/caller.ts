import { AppError } from './errors.js';
import type { Quota } from './rate-limit/windows.js';

export const SCOPES = ['pets:read', 'pets:write', 'domains', 'keys'] as const;
export type Scope = (typeof SCOPES)[number];

/** Who sends a request, as the API key says. The only source of a project id: it never comes from input. */
export interface Caller {
  readonly keyId: bigint;
  readonly projectId: bigint;
  readonly quota: Quota;
  readonly scopes: ReadonlySet<Scope>;
  /** Whether the key may ask for refusals on the staging environment, to try a client's back-off. */
  readonly rehearses: boolean;
}

/** Throws `AppError forbidden` unless the caller's key has the scope. */
export function requireScope(caller: Caller, scope: Scope): void {
  if (caller.scopes.has(scope)) return;
  throw new AppError('forbidden', `This API key lacks the scope ${scope}. Use a key that has it.`);
}
