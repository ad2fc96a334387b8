import { type GraphQLSchema, isEnumType, isInputObjectType, isInterfaceType, isObjectType } from 'graphql';
import { capitalized, joined } from '../../../noun-words.js';
import type { NounDescription } from '../../../nouns.js';

/**
 * Puts the words of the gateway's nouns into the descriptions of its schema. Decorators run before any gateway is made, so
 * they write `{{nouns}}`. Throws for an unknown word. D-272.
 */
export function fillDescriptions(schema: GraphQLSchema, nouns: readonly NounDescription[]): void {
  const words = wordsOf(nouns);
  const fill = (place: { name: string; description?: string | null | undefined }, path = place.name) => {
    // Scalars belong to other schemas too.
    if (!place.description?.includes('{{')) return;
    place.description = place.description.replaceAll(/\{\{(\w+)\}\}/g, (placeholder, name) => {
      const word = words[name];
      if (word === undefined)
        throw new Error(`The description of ${path} has the unknown word ${placeholder}.`);
      return word;
    });
  };
  for (const type of Object.values(schema.getTypeMap())) {
    fill(type);
    if (isEnumType(type)) for (const value of type.getValues()) fill(value, `${type.name}.${value.name}`);
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const path = `${type.name}.${field.name}`;
      fill(field, path);
      for (const arg of 'args' in field ? field.args : []) fill(arg, `${path}(${arg.name})`);
    }
  }
}

/** The examples are of the first noun. */
function wordsOf(nouns: readonly NounDescription[]): Readonly<Record<string, string>> {
  const [{ plural, type }] = nouns as readonly [NounDescription];
  return {
    /** All nouns: `books`, `books and films`. */
    nouns: joined(nouns),
    items: plural,
    Item: type,
    listOperation: `list${capitalized(plural)}`,
  };
}
