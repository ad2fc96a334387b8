import { MapperKind, mapSchema } from '@graphql-tools/utils';
import {
  type ASTNode,
  type ASTVisitor,
  type DocumentNode,
  type GraphQLFieldConfig,
  GraphQLObjectType,
  type GraphQLSchema,
  isObjectType,
  type OperationDefinitionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { ServiceCall } from '../../../ground/kernel/caller.js';
import { isLeftOut, type Variable } from '../operations/operation-size.js';
import { fragmentsOf } from '../operations/selections.js';
import type { Context } from './context.js';

/** The service of the records to which such a field leads. */
export interface NestedSource {
  mayRead(call: ServiceCall): boolean;
  /** Throws `AppError forbidden` unless the caller may read them. */
  requireReader(call: ServiceCall): void;
}

/** A field that leads from records of one noun to those of another one. */
export interface NestedField {
  /** The type that has it. */
  readonly type: string;
  readonly name: string;
  readonly source: NestedSource;
  config(schema: GraphQLSchema): GraphQLFieldConfig<never, Context>;
}

/** Adds the fields to the schema of one gateway: another one of the process may serve only one of two nouns. */
export function withNestedFields(schema: GraphQLSchema, nested: readonly NestedField[]): GraphQLSchema {
  if (nested.length === 0) return schema;
  return mapSchema(schema, {
    [MapperKind.OBJECT_TYPE]: (type) => {
      const own = nested.filter((field) => field.type === type.name);
      if (own.length === 0) return undefined;
      const added = own.map(({ name, source, config }) => [
        name,
        { ...config(schema), extensions: { nestedSource: source } },
      ]);
      const { fields, ...config } = type.toConfig();
      return new GraphQLObjectType({ ...config, fields: { ...fields, ...Object.fromEntries(added) } });
    },
  });
}

/**
 * The sources of such fields in a valid operation; what `variable` leaves out needs none. A caller who may not read one is
 * refused before the operation is executed: a mutation would be done by then.
 */
export type NestedSources = (
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variable: Variable,
) => readonly NestedSource[];

/** Null = the schema has no such field. */
export function nestedSourcesOf(schema: GraphQLSchema): NestedSources | null {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  const fields = types.flatMap((type) => Object.values(type.getFields()));
  if (!fields.some(({ extensions }) => extensions.nestedSource)) return null;
  return (document, operation, variable) => {
    const info = new TypeInfo(schema);
    const fragments = fragmentsOf(document);
    const sources = new Set<NestedSource>();
    // It grows while it is read.
    const reached = new Set<ASTNode>([operation]);
    const visitor: ASTVisitor = {
      Field(field) {
        if (isLeftOut(field, variable)) return false;
        const source = info.getFieldDef()?.extensions.nestedSource;
        if (source) sources.add(source as NestedSource);
        return undefined;
      },
      InlineFragment: (fragment) => (isLeftOut(fragment, variable) ? false : undefined),
      FragmentSpread(spread) {
        const fragment = fragments.get(spread.name.value);
        if (fragment && !isLeftOut(spread, variable)) reached.add(fragment);
      },
    };
    for (const node of reached) visit(node, visitWithTypeInfo(info, visitor));
    return [...sources];
  };
}
