import { type Caller, SCOPES, type Scope } from '../caller.js';
import { AppError, type FieldProblem, invalidRequest } from '../errors.js';
import { NAME, validator } from '../validation.js';

/** 30 days. */
export const MAX_OVERLAP_SECONDS = 30 * 86_400;

/** A key as its owner asks for it. */
export interface WantedKey {
  name: string;
  scopes: readonly Scope[];
  expiresAtMs: number | null;
}

const nameProblems = validator({ type: 'object', required: ['name'], properties: { name: NAME } });

/** The wanted key, its scopes once each. Throws `AppError invalid_request`, naming every field that is wrong. */
export function checkedKey<T extends WantedKey>(wanted: T, nowMs: number): T {
  const problems: FieldProblem[] = nameProblems({ name: wanted.name });
  if (wanted.scopes.length === 0) problems.push({ field: 'scopes', message: 'must hold at least one scope' });
  if (wanted.expiresAtMs !== null && !(wanted.expiresAtMs > nowMs)) {
    problems.push({ field: 'expiresAt', message: 'must be in the future' });
  }
  if (problems.length > 0) throw invalidRequest(problems);
  return { ...wanted, scopes: SCOPES.filter((scope) => wanted.scopes.includes(scope)) };
}

/** Throws `AppError invalid_request`. */
export function checkOverlap(overlapSeconds: number): void {
  if (overlapSeconds >= 0 && overlapSeconds <= MAX_OVERLAP_SECONDS) return;
  const message = `must be 0 to ${MAX_OVERLAP_SECONDS} seconds, which is 30 days`;
  throw invalidRequest([{ field: 'overlapSeconds', message }]);
}

/** A key hands on only what it has: else one that may make keys could do everything. Throws `AppError forbidden`. */
export function requireAll({ scopes: own }: Pick<Caller, 'scopes'>, scopes: readonly Scope[]): void {
  const lacking = scopes.filter((scope) => !own.has(scope));
  if (lacking.length === 0) return;
  throw new AppError(
    'forbidden',
    `This API key lacks ${lacking.join(', ')}, and can't give to another key what it lacks itself.`,
  );
}
