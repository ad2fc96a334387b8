import { AppError } from '../../kernel/errors.js';

/** The largest introspection in use reads 3,600. */
export const MAX_INTROSPECTED = 10_000;

/** The largest operation that is executed. The deepest in use is Apollo Sandbox's introspection query, with 13 levels. */
const LIMITS = {
  rootFields: 20,
  depth: 15,
  aliases: 30,
  aliasLength: 100,
  directives: 10,
  selections: 1_000,
  cost: 5_000,
  full: 80_000,
  introspected: MAX_INTROSPECTED,
};

const IN_WORDS: Record<keyof typeof LIMITS, string> = {
  rootFields: 'root fields',
  depth: 'levels of depth',
  aliases: 'aliases',
  aliasLength: 'characters in its longest alias',
  directives: 'directives',
  selections: 'selections, with each fragment counted wherever it is spread',
  cost: 'fields in total, with those inside a list counted once for each possible entry',
  full: 'fields in total if every list is as long as possible',
  introspected: 'or more fields of the schema to read, aliases counted',
};

/** The reason to refuse an operation of this size; null = it is small enough. */
export function sizeProblem(size: Partial<Record<keyof typeof LIMITS, number>>): AppError | null {
  const names = Object.keys(LIMITS) as (keyof typeof LIMITS)[];
  const name = names.find((candidate) => (size[candidate] ?? 0) > LIMITS[candidate]);
  if (!name) return null;
  const has = `The operation has ${size[name]} ${IN_WORDS[name]}`;
  const advice = name === 'aliasLength' ? 'Shorten it.' : 'Split it.';
  return new AppError('invalid_request', `${has}; at most ${LIMITS[name]} are allowed. ${advice}`);
}
