import { type Caller, SCOPES, type Scope } from '../caller.js';
import { AppError, type FieldProblem, invalidRequest } from '../errors.js';
import { validator } from '../validation.js';

export const NAME_LENGTH = 255;
/** 30 days. */
export const MAX_OVERLAP_SECONDS = 30 * 86_400;

/** A key as its owner asks for it. */
export interface WantedKey {
  name: string;
  scopes: readonly Scope[];
  expiresAtMs: number | null;
}

const nameProblems = validator({
  type: 'object',
  required: ['name'],
  properties: {
    name: {
      type: 'string',
      minLength: 1,
      maxLength: NAME_LENGTH,
      // As for pets: NUL ends a text in some databases, a lone surrogate has no UTF-8; a name of blanks is no name.
      pattern: '^(?=[\\s\\S]*\\S)[^\\u0000\\uD800-\\uDFFF]*$',
      rule: `must be text of 1 to ${NAME_LENGTH} characters, not only blanks`,
    },
  },
});

/** The wanted key, its scopes once each. Throws `AppError invalid_request`, naming every field that is wrong. */
export function checkedKey(wanted: WantedKey, nowMs: number): WantedKey {
  const problems: FieldProblem[] = nameProblems({ name: wanted.name });
  if (wanted.scopes.length === 0) problems.push({ field: 'scopes', message: 'must hold at least one scope' });
  if (wanted.expiresAtMs !== null && !(wanted.expiresAtMs > nowMs)) {
    problems.push({ field: 'expiresAt', message: 'must be in the future' });
  }
  if (problems.length > 0) throw invalidRequest(problems);
  return { ...wanted, scopes: SCOPES.filter((scope) => wanted.scopes.includes(scope)) };
}

/** Throws `AppError invalid_request`. */
export function checkedOverlapMs(overlapSeconds: number): number {
  if (overlapSeconds >= 0 && overlapSeconds <= MAX_OVERLAP_SECONDS) return overlapSeconds * 1000;
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
