import {
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  valueFromASTUntyped,
} from 'graphql';
import { type Fragments, fragmentsOf, placeOf } from '../documents/selections.js';

const META_FIELDS = new Map([SchemaMetaFieldDef, TypeMetaFieldDef].map((field) => [field.name, field]));

/** A field of the response, with the selected fields inside it. */
interface Place {
  field: GraphQLField<unknown, unknown>;
  args: Record<string, unknown>;
  inner: readonly Place[];
}

/**
 * How many fields of the schema an operation reads. Walks the schema itself, because nested lists differ widely in length;
 * stops above `most`. Fields that a directive or `includeDeprecated` may leave out count.
 *
 * @param document valid for the schema
 * @param variables coerced
 */
export function countIntrospection(
  schema: GraphQLSchema,
  document: DocumentNode,
  { selectionSet }: OperationDefinitionNode,
  { variables, most }: { variables: Record<string, unknown>; most: number },
): number {
  const fragments = fragmentsOf(document);
  // graphql's own resolvers of the schema use nothing else.
  const info = { schema } as GraphQLResolveInfo;
  let count = 0;
  const read = ({ field, args, inner }: Place, source: unknown): void => {
    count += 1;
    if (inner.length === 0) return;
    const value = field.resolve?.(source, args, undefined, info) ?? [];
    for (const entry of Array.isArray(value) ? value : [value]) {
      for (const place of inner) {
        if (count > most) return;
        read(place, entry);
      }
    }
  };
  for (const nodes of placeOf([selectionSet], fragments).fields.values()) {
    const field = META_FIELDS.get(nodes[0]?.name.value ?? '');
    if (field) read(schemaPlaceOf(field, nodes, { fragments, variables }), undefined);
  }
  return count;
}

/** `nodes` select the same field in the same place. */
function schemaPlaceOf(
  field: Place['field'],
  nodes: readonly FieldNode[],
  given: { fragments: Fragments; variables: Record<string, unknown> },
): Place {
  const name = nodes[0]?.arguments?.find((argument) => argument.name.value === 'name');
  const args = { name: name && valueFromASTUntyped(name.value, given.variables), includeDeprecated: true };
  const type = getNamedType(field.type);
  const inside = isObjectType(type) ? fieldsInside(type, nodes, given.fragments) : [];
  return { field, args, inner: inside.map(([inner, found]) => schemaPlaceOf(inner, found, given)) };
}

function fieldsInside(
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  fragments: Fragments,
): [Place['field'], readonly FieldNode[]][] {
  const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const fields = type.getFields();
  return [...placeOf(selectionSets, fragments).fields.values()].flatMap((found) => {
    // No type declares `__typename`.
    const field = fields[found[0]?.name.value ?? ''];
    return field ? [[field, found]] : [];
  });
}
