import { capitalized, filteredFieldsOf, type NounDescription, type NounField } from '../../../nouns.js';
import type { ApiKeyScope } from '../graphql/generated.js';

/** A record of a noun, such as a book, as GraphQL answers it. */
export interface Item {
  readonly id: string;
  /** A time in ISO 8601; not part of exports. */
  readonly createdAt: string;
  /** Its fields by name: an integer of 64 bits is text, and null = not set. */
  readonly [field: string]: string | number | null;
}

/** The value of a field as text; empty = not set. */
export function textIn(item: Item, { name }: NounField): string {
  return String(item[name] ?? '');
}

/** The value that GraphQL expects for a text from a form or a file. */
export function inputOf({ kind }: NounField, text: string): string | number | null {
  if (text === '') return null;
  return kind === 'integer' ? Number(text) : text;
}

/** `1 book`, `1,000 books`. */
export function counted({ singular, plural }: NounDescription, count: number): string {
  return count === 1 ? `1 ${singular}` : `${count.toLocaleString()} ${plural}`;
}

/** The scope as GraphQL names it: `BOOKS_READ`. */
export function scopeOf({ plural }: NounDescription, act: 'READ' | 'WRITE'): ApiKeyScope {
  return `${plural.toUpperCase()}_${act}` as ApiKeyScope;
}

/** The root fields of a noun. Each spends units of the plan. */
export function rootFieldsOf({ singular, plural, type }: NounDescription) {
  return {
    list: plural,
    count: `${singular}Count`,
    create: `create${type}`,
    createMany: `create${capitalized(plural)}`,
    update: `update${type}`,
    remove: `delete${type}`,
    changes: `${singular}Changes`,
  };
}

const SCALARS = { text: 'String', date: 'String', int64: 'ID', integer: 'Int' };

/** The arguments of the list that select, with their types in GraphQL: `state` is a `BookState`. */
export function selectingArgumentsOf(noun: NounDescription): { name: string; type: string }[] {
  return filteredFieldsOf(noun).map(({ argument, field }) => ({
    name: argument,
    type: field.kind === 'choice' ? `${noun.type}${capitalized(field.name)}` : SCALARS[field.kind],
  }));
}
