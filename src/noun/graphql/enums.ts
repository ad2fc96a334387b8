import type { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int } from 'type-graphql';
import { describedEnum } from '../../doors/graphql/operations/type-options.js';
import { capitalized } from '../../noun-words.js';
import type { ModelField, NounModel } from '../definition/model.js';

type FieldType = typeof ID | typeof Int | typeof String | typeof GraphQLDateTime | object;

/** The type of each field in GraphQL, by name. An enum is registered once, so call it once for a noun. */
export function fieldTypesOf({ description, fields }: NounModel): ReadonlyMap<string, FieldType> {
  return new Map(
    fields.map(({ name, kind, description: text }): [string, FieldType] => {
      if (!kind.choices) return [name, { String, ID, Int }[kind.scalar]];
      return [name, describedEnum(`${description.type}${capitalized(name)}`, text, kind.choices)];
    }),
  );
}

/** Declares a field of a type, an input or arguments, whose name is known only now. */
export function addField(
  Type: new () => object,
  name: string,
  type: FieldType,
  options: { description: string; nullable?: boolean; defaultValue?: unknown },
): void {
  Field(() => type as never, options)(Type.prototype, name);
}

/** `the digits of a 64-bit integer`, `1 to 255 characters`. */
export function formOf({ kind }: ModelField): string {
  if (kind.name === 'text') return `1 to ${kind.column.length} characters`;
  return kind.form ?? '';
}

/** A description with its form: `Identifier of its category: the digits of a 64-bit integer.` */
export const withForm = (text: string, form: string | undefined) => (form ? `${text}: ${form}` : text);
