import type { OperationDefinitionNode } from 'graphql';

const MAX_CHARACTERS = 100;
const NAME = /^[_a-z]\w*$/i;
/** A token is a valid name, and must not be stored. */
const TOKEN = /pk_[0-9a-z]{16}/i;

/**
 * The name by which an operation is counted: its own, otherwise its root fields, each once, in alphabetical order. Null =
 * it has neither.
 */
export function operationName(
  { name }: OperationDefinitionNode,
  rootFieldNames: readonly string[],
): string | null {
  return countable(name?.value ?? [...new Set(rootFieldNames)].sort().join(','));
}

/** The client's `operationName` of a request that is not parsed yet; null = it is not a name. */
export function givenName(value: unknown): string | null {
  return typeof value === 'string' && NAME.test(value) ? countable(value) : null;
}

function countable(name: string): string | null {
  return name === '' || TOKEN.test(name) ? null : name.slice(0, MAX_CHARACTERS);
}
