import type { Caller, Scope, Scopes } from '../../ground/kernel/caller.js';
import { AppError, invalidField, refuseProblems } from '../../ground/kernel/errors.js';
import { got } from '../../ground/kernel/got.js';
import { NAME, validator } from '../../ground/kernel/validation.js';
import type { Codec } from '../idempotency/idempotency.service.js';
import type { ApiKey } from './api-key.entity.js';

/** 30 days. */
export const MAX_OVERLAP_SECONDS = 30 * 86_400;

/** The requested properties of a new key. */
export interface WantedKey {
  name: string;
  scopes: readonly Scope[];
  expiresAtMs: number | null;
}

/** A new key. Its token is known only at this moment. */
export interface IssuedApiKey {
  key: ApiKey;
  token: string;
}

/** A token must not be stored anywhere, so a repeated request gets an error. */
export const SHOWN_ONCE: Codec<IssuedApiKey> = {
  write: ({ key }) => String(key.id),
  read: (id) => {
    throw new AppError(
      'conflict',
      `This Idempotency-Key created the API key ${id}. Its token was shown only once: if it is lost, revoke that key and create another.`,
    );
  },
};

const nameProblems = validator({ type: 'object', required: ['name'], properties: { name: NAME } });

/** The requested key without duplicate scopes. Throws `AppError invalid_request` that names every invalid field. */
export function checkedKey<T extends WantedKey>(wanted: T, ofGateway: Scopes, nowMs: number): T {
  const problems = nameProblems({ name: wanted.name });
  if (wanted.scopes.length === 0)
    problems.push({ field: 'scopes', message: 'must contain at least one scope' });
  if (wanted.expiresAtMs !== null && !(wanted.expiresAtMs > nowMs)) {
    const at = new Date(wanted.expiresAtMs).toISOString();
    problems.push({ field: 'expiresAt', message: got('must be in the future', at) });
  }
  refuseProblems(problems);
  return { ...wanted, scopes: ofGateway.known(wanted.scopes) };
}

/** Throws `AppError invalid_request`. */
export function checkName(name: string): void {
  refuseProblems(nameProblems({ name }));
}

/** Throws `AppError invalid_request`. */
export function checkOverlap(overlapSeconds: number): void {
  if (overlapSeconds >= 0 && overlapSeconds <= MAX_OVERLAP_SECONDS) return;
  throw invalidField('overlapSeconds', got(`must be 0 to ${MAX_OVERLAP_SECONDS}, 30 days`, overlapSeconds));
}

/**
 * A key can only grant scopes that it has: otherwise a key that may create keys could do everything. Throws `AppError
 * forbidden`. D-53.
 */
export function requireAll({ scopes: own }: Pick<Caller, 'scopes'>, scopes: readonly Scope[]): void {
  const lacking = scopes.filter((scope) => !own.has(scope));
  if (lacking.length === 0) return;
  throw new AppError(
    'forbidden',
    `This API key lacks ${lacking.join(', ')}. A key can only grant scopes that it has.`,
  );
}
