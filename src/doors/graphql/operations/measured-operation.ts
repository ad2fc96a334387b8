import type { OperationDefinitionNode } from 'graphql';
import type { Quota } from '../../../ground/kernel/caller.js';
import { AppError, invalidField } from '../../../ground/kernel/errors.js';
import { type Cost, ONE_SCHEMA, ONE_UNIT } from '../../../request/admission/cost.js';
import type { OperationSize, RootField } from './operation-size.js';

/** Root fields of every schema. */
export const META_FIELDS: ReadonlySet<string> = new Set(['__schema', '__type', '__typename']);

/** An operation of which the size, the cost and the name are known before it is executed. */
export interface MeasuredOperation {
  readonly size: OperationSize;
  readonly cost: Cost;
  /** As `operationName` returns it. */
  readonly name: string | null;
  readonly type: 'query' | 'mutation' | 'subscription';
  /** The reason why the operation is refused; null = its size is allowed. */
  readonly problem: AppError | null;
  /** It has `__schema` or `__type` at its root, perhaps with other fields. */
  readonly readsSchema: boolean;
  /**
   * It reads more than a few fields of management or of the schema. Such reads of a project run one after the other.
   */
  readonly isLong: boolean;
  /** It executes so many fields that it waits for a turn of the event loop. */
  readonly isLarge: boolean;
}

/** More than twice the largest introspection in use. */
export const MAX_INTROSPECTED = 12_000;

/** The largest operation that is executed. The deepest in use is Apollo Sandbox's introspection query, with 13 levels. D-11. */
const LIMITS = {
  rootFields: { most: 20, inWords: 'root fields' },
  depth: { most: 15, inWords: 'levels of depth' },
  aliases: { most: 30, inWords: 'aliases' },
  aliasLength: { most: 100, inWords: 'characters in its longest alias' },
  directives: { most: 10, inWords: 'directives' },
  selections: { most: 1_000, inWords: 'selections, with each fragment counted wherever it is spread' },
  cost: {
    most: 5_000,
    inWords: 'fields in total, with those inside a list counted once for each possible entry',
  },
  full: { most: 80_000, inWords: 'fields in total if every list is as long as possible' },
  introspected: {
    most: MAX_INTROSPECTED,
    inWords: 'or more fields of the schema to read, aliases counted',
  },
};

/** The reason to refuse an operation of this size; null = it is small enough. */
export function sizeProblem(size: Partial<Record<keyof typeof LIMITS, number>>): AppError | null {
  const names = Object.keys(LIMITS) as (keyof typeof LIMITS)[];
  const name = names.find((candidate) => (size[candidate] ?? 0) > LIMITS[candidate].most);
  if (!name) return null;
  const { most, inWords } = LIMITS[name];
  const advice = name === 'aliasLength' ? 'Shorten it.' : 'Split it.';
  const message = `The operation has ${size[name]} ${inWords}; at most ${most} are allowed. ${advice}`;
  return new AppError('invalid_request', message);
}

/** How many things one field may create. D-178. */
export const MAX_INPUTS = 100;

/** The reason to refuse an operation before it is executed; null = each list of inputs has an allowed length. */
export function inputsProblem(roots: readonly RootField[]): AppError | null {
  const wrong = roots.find(({ inputs }) => inputs !== null && (inputs < 1 || inputs > MAX_INPUTS));
  if (!wrong) return null;
  return invalidField('inputs', `must have 1 to ${MAX_INPUTS} entries, not ${wrong.inputs}`);
}

const INPUTS_PER_UNIT = 10;

/**
 * The cost of an operation: a unit for each root field, or with `inputs` one for every ten entries begun. The plan pays for
 * fields about nouns and for unknown fields; the key's allowance pays for management. The plan also pays for `__schema`,
 * `__type` and `__typename`, unless all other fields are management: then the allowance pays. An operation of only these
 * three reads the schema, which has a separate allowance; `__typename` alone is a liveness check, which the plan pays.
 *
 * @param roots aliases counted
 * @param management the names of the root fields that are not about a noun
 */
export function costOf(roots: readonly RootField[], management: ReadonlySet<string>): Cost {
  const meta = roots.filter(({ name }) => META_FIELDS.has(name));
  if (meta.length === roots.length && meta.some(({ name }) => name !== '__typename')) return ONE_SCHEMA;
  const others = roots.filter(({ name }) => !management.has(name));
  const managing = roots.length - others.length;
  if (managing > 0 && others.length === meta.length) return { plan: 0, management: roots.length, schema: 0 };
  const units = others.reduce((sum, { inputs }) => sum + Math.ceil((inputs || 1) / INPUTS_PER_UNIT), 0);
  return { plan: Math.max(1, units), management: managing, schema: 0 };
}

/** The cost of an operation that is refused for its size. */
export function unitOf({ plan, management }: Cost): Cost {
  return plan === 0 && management > 0 ? { ...ONE_UNIT, plan: 0, management: 1 } : ONE_UNIT;
}

/** The reason to refuse an operation that the plan can never pay, so that no Retry-After would be true; null = it can. */
export function costProblem({ plan }: Cost, { perMinute, perDay }: Quota): AppError | null {
  const most = Math.min(perMinute, perDay ?? perMinute);
  if (plan <= most || plan === 1) return null;
  const message = `The operation costs ${plan} units; the quota has ${most}, however long you wait. Split it.`;
  return new AppError('invalid_request', message);
}

const MAX_CHARACTERS = 100;
const NAME = /^[_a-z]\w*$/i;
/** A token is a valid name, and must not be stored. */
const TOKEN = /pk_[0-9a-z]{16}/i;

/**
 * The name by which an operation is counted: its own, otherwise its root fields, each once, in alphabetical order. Null =
 * it has neither. The document need not be valid: root fields that the schema does not know may be any text of the client.
 * D-123.
 */
export function operationName(
  { name }: OperationDefinitionNode,
  rootFieldNames: readonly string[],
  knownRootFields: ReadonlySet<string>,
): string | null {
  const known = rootFieldNames.filter((field) => knownRootFields.has(field));
  return countable(name?.value ?? [...new Set(known)].sort().join(','));
}

/** The client's `operationName` of a request that is not parsed yet; null = it is not a name. */
export function givenName(value: unknown): string | null {
  return typeof value === 'string' && NAME.test(value) ? countable(value) : null;
}

function countable(name: string): string | null {
  if (name === '' || TOKEN.test(name)) return null;
  // A copy, because a part of a text keeps the whole document in the memory of the request log, the usage and the collector.
  return Buffer.from(name.slice(0, MAX_CHARACTERS)).toString();
}
