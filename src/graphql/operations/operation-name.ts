import type { OperationDefinitionNode } from 'graphql';

const MAX_CHARACTERS = 100;
const NAME = /^[_a-z]\w*$/i;
/** A token is a valid name, and must not be stored. */
const TOKEN = /pk_[0-9a-z]{16}/i;

/**
 * The name by which an operation is counted: its own, otherwise its root fields, each once, in alphabetical order. Null =
 * it has neither. The document need not be valid: root fields that the schema does not know may be any text of the client.
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
