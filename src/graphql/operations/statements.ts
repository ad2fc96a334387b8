import {
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { Extensions } from 'type-graphql';
import { type Fragments, fragmentsOf } from '../documents/fragments.js';
import { placesOf, responseName } from './places.js';

/** How many database statements a field runs. */
interface Cost {
  count: number;
  /** Aliases share the statements (`Batch`). */
  isJoint: boolean;
}

/** They reserve the key and store its result. */
const OF_IDEMPOTENCY_KEY = 2;

/**
 * Declares how many statements a field runs in one place of an operation, for any number of parents and aliases. Of a
 * mutation each alias counts. Retries after a lock, a lost race or a crash do not count.
 */
export function Statements(count: number, { isJoint = true } = {}) {
  return Extensions({ statements: { count, isJoint } satisfies Cost });
}

export function declaredStatements(field: GraphQLField<unknown, unknown>): Cost | null {
  return (field.extensions.statements as Cost | undefined) ?? null;
}

/** Throws for a root field that does not declare its statements. */
export function requireStatements(schema: GraphQLSchema): void {
  for (const type of [schema.getQueryType(), schema.getMutationType()]) {
    for (const field of Object.values(type?.getFields() ?? {})) {
      if (!declaredStatements(field)) throw new Error(`${type?.name}.${field.name} needs @Statements(…).`);
    }
  }
}

/**
 * The maximum number of statements of an operation, including parts that a variable may leave out. The document need not
 * be valid: an unknown field counts as nothing.
 */
export function countStatements(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operation, selectionSet }: OperationDefinitionNode,
  { hasIdempotencyKey }: { hasIdempotencyKey: boolean },
): number {
  const root = schema.getRootType(operation);
  if (!root) return 0;
  const fragments = fragmentsOf(document);
  if (operation !== 'mutation') return inPlace(root, [selectionSet], fragments);
  let count = 0;
  // Mutations run one after the other, so two with the same fields share nothing.
  for (const nodes of placesOf([selectionSet], fragments, responseName).values()) {
    const ofKey = hasIdempotencyKey ? OF_IDEMPOTENCY_KEY : 0;
    count += ofField(root, nodes, fragments) + ofKey;
  }
  return count;
}

function inPlace(
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
  fragments: Fragments,
): number {
  let count = 0;
  for (const nodes of placesOf(selectionSets, fragments, ({ name }) => name.value).values()) {
    count += ofField(type, nodes, fragments);
  }
  return count;
}

/** `nodes` select the same field in the same place. */
function ofField(type: GraphQLObjectType, nodes: readonly FieldNode[], fragments: Fragments): number {
  const field = type.getFields()[nodes[0]?.name.value ?? ''];
  if (!field) return 0;
  const { count, isJoint } = declaredStatements(field) ?? { count: 0, isJoint: true };
  const times = isJoint ? 1 : new Set(nodes.map(responseName)).size;
  const inner = getNamedType(field.type);
  const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  return count * times + (isObjectType(inner) ? inPlace(inner, selectionSets, fragments) : 0);
}
