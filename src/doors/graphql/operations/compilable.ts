import {
  type DocumentNode,
  type GraphQLArgument,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isSpecifiedScalarType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/**
 * graphql-jit 0.8.9 merges selections that @skip and @include leave out with others of the same field: in a fragment
 * spread twice, or in a repeated field. It also loses fields named `__proto__`.
 */
const MISCOMPILED = /@|__proto__/;

/** Compiling takes 0.1 ms per selection. */
const MAX_SELECTIONS = 150;

/** A valid operation, with the number of its selections. */
export interface CompilableOperation {
  readonly document: DocumentNode;
  readonly source: string;
  readonly selections: number;
}

/**
 * Whether graphql-jit executes the operation as graphql does, and is worth its time. It writes literals and defaults as
 * JSON, makes null of a left-out variable inside a list or an object, and does not check the variables of a `@oneOf` object.
 * So an argument must be a whole literal or a whole variable, of a type whose values JSON keeps. D-42.
 */
export function isCompilable(
  schema: GraphQLSchema,
  { document, source, selections }: CompilableOperation,
): boolean {
  if (selections > MAX_SELECTIONS || MISCOMPILED.test(source)) return false;
  const types = new TypeInfo(schema);
  let isSafe = true;
  const visitor = visitWithTypeInfo(types, {
    Field: ({ arguments: given = [] }) => {
      const names = new Set(given.map(({ name }) => name.value));
      const used = types
        .getFieldDef()
        ?.args.filter(({ name, defaultValue }) => names.has(name) || defaultValue !== undefined);
      isSafe &&= used?.every(isKeptByJson) ?? true;
    },
    Variable: (_, __, parent) => {
      const kind = parent && 'kind' in parent ? parent.kind : null;
      isSafe &&= kind === Kind.ARGUMENT || kind === Kind.VARIABLE_DEFINITION;
    },
  });
  visit(document, visitor);
  return isSafe;
}

function isKeptByJson({ type }: GraphQLArgument): boolean {
  const named = getNamedType(type);
  if (isEnumType(named)) return named.getValues().every(({ value }) => typeof value === 'string');
  return isSpecifiedScalarType(named);
}
