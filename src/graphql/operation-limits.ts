import { AppError } from '../errors.js';

/** The largest operation that is executed. The introspection query of Apollo Sandbox, 13 deep, is the deepest in use. */
const LIMITS = {
  rootFields: 20,
  depth: 15,
  aliases: 30,
  directives: 10,
  selections: 1_000,
  cost: 5_000,
  statements: 20,
};

const IN_WORDS: Record<keyof typeof LIMITS, string> = {
  rootFields: 'root fields',
  depth: 'levels of depth',
  aliases: 'aliases',
  directives: 'directives',
  selections: 'selections, those of a fragment counted wherever it is spread',
  cost: 'fields in all, those inside a list counted once for each entry that it may have',
  statements: 'statements on the database, two for each Idempotency-Key included',
};

/** Why an operation of this size is refused; null = it is small enough. */
export function sizeProblem(size: Partial<Record<keyof typeof LIMITS, number>>): AppError | null {
  const names = Object.keys(LIMITS) as (keyof typeof LIMITS)[];
  const name = names.find((candidate) => (size[candidate] ?? 0) > LIMITS[candidate]);
  if (!name) return null;
  const has = `The operation has ${size[name]} ${IN_WORDS[name]}`;
  return new AppError('invalid_request', `${has}; at most ${LIMITS[name]} are allowed. Split it.`);
}
