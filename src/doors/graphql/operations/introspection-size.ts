import {
  type DocumentNode,
  type GraphQLFieldMap,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  valueFromASTUntyped,
} from 'graphql';
import { fragmentsOf, placeOf } from './selections.js';

type Fields = GraphQLFieldMap<unknown, unknown>;

const META_FIELDS: Fields = { __schema: SchemaMetaFieldDef, __type: TypeMetaFieldDef };

interface SelectedField {
  field: Fields[string];
  args: Record<string, unknown>;
  inner: readonly SelectedField[];
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
  const selected = (fields: Fields, selectionSets: readonly SelectionSetNode[]): SelectedField[] =>
    [...placeOf(selectionSets, fragments).fields.values()].flatMap((nodes) => {
      // The nodes select the same field. No type declares `__typename`.
      const field = fields[nodes[0]?.name.value ?? ''];
      if (!field) return [];
      const name = nodes[0]?.arguments?.find((argument) => argument.name.value === 'name');
      const args = { name: name && valueFromASTUntyped(name.value, variables), includeDeprecated: true };
      const type = getNamedType(field.type);
      const inside = nodes.flatMap((node) => node.selectionSet ?? []);
      return [{ field, args, inner: isObjectType(type) ? selected(type.getFields(), inside) : [] }];
    });
  // graphql's own resolvers of the schema use nothing else.
  const info = { schema } as GraphQLResolveInfo;
  let count = 0;
  const read = ({ field, args, inner }: SelectedField, source: unknown): void => {
    count += 1;
    if (inner.length === 0) return;
    const value = field.resolve?.(source, args, undefined, info) ?? [];
    for (const entry of Array.isArray(value) ? value : [value]) {
      for (const one of inner) {
        if (count > most) return;
        read(one, entry);
      }
    }
  };
  for (const one of selected(META_FIELDS, [selectionSet])) read(one, undefined);
  return count;
}
