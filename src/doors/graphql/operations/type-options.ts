import {
  type GraphQLField,
  GraphQLScalarType,
  getNamedType,
  getNullableType,
  isEnumType,
  isListType,
} from 'graphql';
import { GraphQLDateTime } from 'graphql-scalars';
import { Extensions, Field, ObjectType, registerEnumType } from 'type-graphql';
import { MAX_PAGE_SIZE } from '../../../ground/kernel/validation.js';

/**
 * A type of which the fields are plain properties: type-graphql's own resolvers would create a promise for each field of
 * each object.
 */
export function PlainType(name: string, description: string): ClassDecorator {
  return ObjectType(name, { description, simpleResolvers: true });
}

/** A time of an input, with its text: a Date alone has lost its microseconds. */
export type SentTime = Date & { readonly sent: unknown };

/** The library's scalar; an input keeps the client's text, for the rules of a field. */
export const DATE_TIME = new GraphQLScalarType({
  ...GraphQLDateTime.toConfig(),
  parseValue: (value): SentTime => Object.assign(GraphQLDateTime.parseValue(value), { sent: value }),
  parseLiteral(node): SentTime {
    const sent = 'value' in node ? node.value : undefined;
    return Object.assign(GraphQLDateTime.parseLiteral(node), { sent });
  },
});

/** A time. The property is in milliseconds, and the field has its name without `Ms`. */
export function TimeField(description: string, { nullable = false } = {}): PropertyDecorator {
  return (type, property) => {
    const name = String(property).slice(0, -'Ms'.length);
    Field(() => DATE_TIME, { name, description, nullable, simple: false })(type, property);
  };
}

/** For a list inside a connection: the connection's `first` multiplies everything inside it. */
export const COUNTED_BY_FIRST = 1;

/** The two sizes of a list: `usual` is the normal measure of operations, `most` the maximum. */
export type EntryCount = 'usual' | 'most';

/** Declares how many entries a list has. A list with an argument `first`, or of an enum, declares nothing. D-12. */
export function Entries(usual: number, most = usual) {
  return Extensions({ entries: { usual, most } satisfies Record<EntryCount, number> });
}

/**
 * The entries of a list, or the page size if the client gives no `first`; null = the field is neither. Throws for a list
 * without a declaration.
 */
export function entriesOf(field: GraphQLField<unknown, unknown>): Record<EntryCount, number> | null {
  const first = field.args.find(({ name }) => name === 'first');
  const pageSize = Number(first?.defaultValue ?? MAX_PAGE_SIZE);
  if (first) return { usual: pageSize, most: pageSize };
  if (!isListType(getNullableType(field.type))) return null;
  const entries = field.extensions.entries as Record<EntryCount, number> | undefined;
  const type = getNamedType(field.type);
  if (!entries && isEnumType(type)) return { usual: type.getValues().length, most: type.getValues().length };
  if (!entries) throw new Error(`The list ${field.name} needs @Entries(…), or \`first\`.`);
  return entries;
}

/** An enum of the schema: its values, each described by its text. A value is its own name, unless `nameOf` gives another. */
export function describedEnum<Value extends string>(
  name: string,
  description: string,
  texts: Readonly<Record<Value, string>>,
  nameOf = (value: Value): string => value,
): Record<string, Value> {
  const values = Object.keys(texts) as Value[];
  const named = Object.fromEntries(values.map((value) => [nameOf(value), value]));
  const described = values.map((value) => [nameOf(value), { description: texts[value] }]);
  registerEnumType(named, { name, description, valuesConfig: Object.fromEntries(described) });
  return named;
}

/** The name of an enum's value that is in lower case inside: `BOOKS_READ` for `books:read`. */
export function inCapitals(value: string): string {
  return value.toUpperCase().replace(':', '_');
}
