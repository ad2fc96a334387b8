import { MapperKind, mapSchema } from '@graphql-tools/utils';
import {
  type DocumentNode,
  type GraphQLFieldConfig,
  GraphQLObjectType,
  type GraphQLSchema,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Context } from './context.js';

/** A field that leads from records of one noun to those of another one. */
export interface NestedField {
  /** The type that has it. */
  readonly type: string;
  readonly name: string;
  config(schema: GraphQLSchema): GraphQLFieldConfig<never, Context>;
}

/** Adds the fields to the schema of one gateway: another one of the process may serve only one of two nouns. */
export function withNestedFields(schema: GraphQLSchema, nested: readonly NestedField[]): GraphQLSchema {
  if (nested.length === 0) return schema;
  return mapSchema(schema, {
    [MapperKind.OBJECT_TYPE]: (type) => {
      const own = nested.filter((field) => field.type === type.name);
      if (own.length === 0) return undefined;
      const added = own.map(({ name, config }) => [
        name,
        { ...config(schema), extensions: { isNested: true } },
      ]);
      const { fields, ...config } = type.toConfig();
      return new GraphQLObjectType({ ...config, fields: { ...fields, ...Object.fromEntries(added) } });
    },
  });
}

/** Whether a valid document has such a field. */
export function readsNested(schema: GraphQLSchema, document: DocumentNode): boolean {
  const types = new TypeInfo(schema);
  let isRead = false;
  const Field = () => {
    isRead ||= types.getFieldDef()?.extensions.isNested === true;
  };
  visit(document, visitWithTypeInfo(types, { Field }));
  return isRead;
}
