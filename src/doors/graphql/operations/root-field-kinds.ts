import { MapperKind, mapSchema } from '@graphql-tools/utils';
import type { GraphQLSchema } from 'graphql';
import { getMetadataStorage } from 'type-graphql';

/** The kind of a root field: `pets` spends the plan, `management` the key's allowance. */
export type RootFieldKind = 'pets' | 'management';

type ResolverClass = new (...parts: never[]) => object;

const KIND = 'kind';

/** Root fields of every schema. */
export const META_FIELDS: ReadonlySet<string> = new Set(['__schema', '__type', '__typename']);

/** Declares the kind of each root field by its resolver class. Throws at start for a field without a kind. */
export function declareKinds(
  schema: GraphQLSchema,
  resolvers: Readonly<Record<RootFieldKind, readonly ResolverClass[]>>,
): GraphQLSchema {
  const { queries, mutations } = getMetadataStorage();
  const kinds = new Map<string, RootFieldKind>();
  for (const kind of ['pets', 'management'] as const) {
    const classes: readonly unknown[] = resolvers[kind];
    for (const { target, schemaName } of [...queries, ...mutations]) {
      if (classes.includes(target)) kinds.set(schemaName, kind);
    }
  }
  return mapSchema(schema, {
    [MapperKind.ROOT_FIELD]: (config, fieldName, typeName) => {
      const kind = kinds.get(fieldName);
      if (!kind) throw new Error(`${typeName}.${fieldName} has no kind: list its resolver in schema.ts.`);
      return { ...config, extensions: { ...config.extensions, [KIND]: kind } };
    },
  });
}

/** The kind of a field; undefined = it is not a root field. */
function kindOf({ extensions }: { extensions?: unknown }): RootFieldKind | undefined {
  return (extensions as Record<string, RootFieldKind> | null | undefined)?.[KIND];
}

/** The names of the root fields of a kind. */
export function fieldsOfKind(schema: GraphQLSchema, kind: RootFieldKind): ReadonlySet<string> {
  const fields = declaredFields(schema).filter((field) => kindOf(field) === kind);
  return new Set(fields.map(({ name }) => name));
}

/** The names of all root fields, those of every schema included. */
export function allRootFields(schema: GraphQLSchema): ReadonlySet<string> {
  return new Set([...declaredFields(schema).map(({ name }) => name), ...META_FIELDS]);
}

function declaredFields(schema: GraphQLSchema) {
  return [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.values(type?.getFields() ?? {}),
  );
}
