import {
  capitalized,
  filteredFieldsOf,
  inSentence,
  type NounDescription,
  type NounField,
} from '../../../nouns.js';
import type { ApiKeyScope } from '../graphql/generated.js';

/** A record of a noun, such as a book, as GraphQL answers it. */
export interface Item {
  readonly id: string;
  /** A time in ISO 8601; not part of exports. */
  readonly createdAt: string;
  /** Its fields by name: an integer of 64 bits is text, and null = not set. */
  readonly [field: string]: string | number | boolean | readonly string[] | null;
}

/** The value of a field as text; empty = not set. */
export function textIn(item: Item, { name }: NounField): string {
  const value = item[name] ?? '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The value as the text of a form: a list has a line for each text, or is JSON if a text has lines itself. */
export function formTextOf(item: Item, field: NounField): string {
  return field.json === 'texts' ? linesOf(item[field.name]) : textIn(item, field);
}

export function linesOf(list: unknown): string {
  if (!Array.isArray(list)) return '';
  const isInLines = !list.some((each) => /[\r\n]/.test(each)) && !list[0]?.startsWith('[');
  return isInLines ? list.join('\n') : JSON.stringify(list);
}

/** The value that GraphQL expects for a text from a form or a file. */
export function inputOf(field: NounField, text: string): unknown {
  const { scalar, json } = field;
  if (json === 'texts') return listIn(text, isSet(field));
  if (text === '') return null;
  if (scalar === 'Int') return Number(text);
  return json === 'boolean' ? (valueIn(text) ?? text) : text;
}

/** The word for a choice beside the label of its field: `yes` and `no` for true and false. */
export function choiceWord({ json }: NounField, choice: string): string {
  if (json !== 'boolean') return choice;
  return choice === 'true' ? 'yes' : 'no';
}

/** The text of its definition for a choice, such as `On its way.`; undefined = it has none. */
export function choiceTextOf({ choices, choiceTexts }: NounField, choice: string): string | undefined {
  return choiceTexts?.[choices?.indexOf(choice) ?? -1];
}

/** The words for a choice without a label, such as `fragile` and `not fragile` for true and false. */
export function choiceInWords({ json, label }: NounField, choice: string): string {
  if (json !== 'boolean') return choice;
  return choice === 'true' ? inSentence(label) : `not ${inSentence(label)}`;
}

/** Whether each item has a value of it. */
export function isSet(field: NounField): boolean {
  return field.isRequired || field.default !== undefined;
}

function listIn(text: string, isAlwaysSet: boolean): unknown {
  if (text.trim() === '') return isAlwaysSet ? [] : null;
  const value = valueIn(text);
  return Array.isArray(value) ? value : text.split('\n').filter((line) => line.trim() !== '');
}

/** The value of a JSON text; null = it is none. */
export function valueIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** `1 book`, `1,000 books`. */
export function counted({ singular, plural }: NounDescription, count: number): string {
  return count === 1 ? `1 ${singular}` : `${count.toLocaleString()} ${plural}`;
}

/** The scope as GraphQL names it: `BOOKS_READ`, or `BOOKS_LEND` for the action `lend`. */
export function scopeOf({ plural }: NounDescription, act: string): ApiKeyScope {
  return `${plural}_${act}`.toUpperCase() as ApiKeyScope;
}

/** The root fields of a noun. Each spends units of the plan. */
export function rootFieldsOf({ singular, plural, type, hasTrash }: NounDescription) {
  return {
    list: plural,
    count: `${singular}Count`,
    create: `create${type}`,
    createMany: `create${capitalized(plural)}`,
    update: `update${type}`,
    remove: `delete${type}`,
    changes: `${singular}Changes`,
    ...(hasTrash && { deleted: `deleted${capitalized(plural)}`, restore: `restore${type}` }),
  };
}

/** The arguments of the list that select, with their types in GraphQL: `state` is a `BookState`. */
export function selectingArgumentsOf(noun: NounDescription): { name: string; type: string }[] {
  return filteredFieldsOf(noun).map(({ argument, field }) => ({
    name: argument,
    type: field.scalar ?? `${noun.type}${capitalized(field.name)}`,
  }));
}
