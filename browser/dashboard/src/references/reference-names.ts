import { filteredFieldsOf, headOf, type NounDescription, type NounField } from '../../../nouns.js';
import type { ApiKeyScope } from '../graphql/generated.js';
import { type Item, scopeOf } from '../items/item.js';

/** The other records in the documents of a list. Each is left out unless its variable is true: the key may lack its scope. */
export function namesOf(noun: NounDescription): { declared: string; selected: string } {
  const references = referencesOf(noun);
  return {
    declared: references.map(({ variable }) => `, $${variable}: Boolean = false`).join(''),
    selected: references
      .map(({ as, other, variable }) => ` ${as} @include(if: $${variable}) { id ${headOf(other).name} }`)
      .join(''),
  };
}

/** The variables for a key with these scopes. */
export function nameVariables(
  noun: NounDescription,
  scopes: readonly ApiKeyScope[],
): Record<string, boolean> {
  const readable = referencesOf(noun).filter(({ other }) => scopes.includes(scopeOf(other, 'READ')));
  return Object.fromEntries(readable.map(({ variable }) => [variable, true]));
}

/** The name of the record that an item refers to; null = it is not known. */
export function nameIn(item: Item, field: NounField): string | null {
  const other = field.reference?.to;
  const named = other && field.reference && (item[field.reference.as] as unknown as Item | null | undefined);
  return named ? String(named[headOf(other).name] ?? '') : null;
}

/** The page with the record; null = its list has no search by the name. */
export function pageOf(other: NounDescription, name: string): string | null {
  const search = searchOf(other);
  return search === null ? null : `/${other.plural}?${new URLSearchParams({ [search]: name })}`;
}

/** The argument that finds records by the start of their names. */
export function searchOf(noun: NounDescription): string | null {
  const head = headOf(noun).name;
  const found = filteredFieldsOf(noun).find(({ field, match }) => match === 'start' && field.name === head);
  return found?.argument ?? null;
}

/** No argument of a list begins as the variables do. */
function referencesOf(noun: NounDescription) {
  return noun.fields.flatMap((field) => {
    const other = field.reference?.to;
    return other && field.reference
      ? [{ as: field.reference.as, other, variable: `_${field.reference.as}` }]
      : [];
  });
}
