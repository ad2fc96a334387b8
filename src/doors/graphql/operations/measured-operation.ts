import type { OperationDefinitionNode } from 'graphql';
import { AppError } from '../../../ground/kernel/errors.js';
import type { Cost } from '../../../request/admission/cost.js';
import type { OperationSize } from './operation-size.js';

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

/** The largest introspection in use reads 3,600. */
export const MAX_INTROSPECTED = 10_000;

/** The largest operation that is executed. The deepest in use is Apollo Sandbox's introspection query, with 13 levels. D-11. */
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
  return name === '' || TOKEN.test(name) ? null : copyOf(name.slice(0, MAX_CHARACTERS));
}

/** Names wait in memory for the request log, the usage and the collector. A part of a text keeps the whole document there. */
function copyOf(name: string): string {
  return Buffer.from(name).toString();
}
