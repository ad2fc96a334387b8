import type { NounDescription } from '../../../src/nouns.js';

/** Values of fields, as variables of GraphQL: a 64-bit integer is text of its digits. */
export type Values = Readonly<Record<string, unknown>>;

/** The facts about a noun, beyond its description, that the suites of `test/nouns/` need. */
export interface TestNoun {
  readonly description: NounDescription;
  /** Valid input number `n`, without the field of `filter`. The values of unique fields differ between two numbers. */
  input(n: number): Values;
  /** Valid changes number `n`: they differ from every input, and from the changes of another number. */
  change(n: number): Values;
  /** A required field of text that is not unique and accepts every text up to its length. */
  readonly text: string;
  /** Differences that make an input invalid, with the names of the wrong fields. */
  readonly invalid: readonly (readonly [difference: Values, fields: readonly string[]])[];
  /** A field of 64-bit integers, and integers that it accepts. At least one integer is larger than 2^53; null = no such field. */
  readonly int64: { readonly field: string; readonly digits: readonly string[] } | null;
  /** An optional field with choices, which null removes; the argument of its name filters the lists of both doors. */
  readonly filter: { readonly field: string; readonly values: readonly [string, string] };
  /** Further arguments of the GraphQL list, such as `ids: ["4711"]`, that find the record and have their own cursors. */
  boundLists(id: string, input: Values): readonly string[];
}

/** The names that follow from a description. */
export interface NounNames {
  /** Such as `/v1/toys`. */
  readonly path: string;
  /** Root fields of GraphQL. */
  readonly one: string;
  readonly list: string;
  readonly create: string;
  readonly createAll: string;
  readonly update: string;
  readonly remove: string;
  /** Types of GraphQL. */
  readonly newInput: string;
  readonly changes: string;
  readonly order: string;
  readonly choice: string;
  readonly readScope: `${string}:read`;
  readonly writeScope: `${string}:write`;
  /** Of the scope `toys:read` in GraphQL, such as `TOYS_READ`. */
  readonly readScopeName: string;
  /** `id` and the fields of the description, as a selection. */
  readonly fields: string;
  /** The table with its rows. */
  readonly table: string;
}

export function namesOf({ description, filter }: TestNoun): NounNames {
  const { singular, plural, type, fields } = description;
  return {
    path: `/v1/${plural}`,
    one: singular,
    list: plural,
    create: `create${type}`,
    createAll: `create${capitalized(plural)}`,
    update: `update${type}`,
    remove: `delete${type}`,
    newInput: `New${type}`,
    changes: `${type}Changes`,
    order: `${type}Order`,
    choice: `${type}${capitalized(filter.field)}`,
    readScope: `${plural}:read`,
    writeScope: `${plural}:write`,
    readScopeName: `${plural.toUpperCase()}_READ`,
    fields: ['id', ...fields.map(({ name }) => name)].join(' '),
    table: plural,
  };
}

/** The field `text`, and the most characters that it has. Throws if the noun has no such field. */
export function requiredText({ description, text }: TestNoun): { name: string; maxLength: number } {
  const field = description.fields.find(({ name, isRequired }) => name === text && isRequired);
  if (field?.maxLength === undefined) throw new Error(`${description.singular} has no required text ${text}`);
  return { name: text, maxLength: field.maxLength };
}

/** Each integer of `int64` as a value, such as `{categoryId: "0"}`. A noun without such a field has one empty value. */
export function int64Values({ int64 }: TestNoun): readonly [Values, ...Values[]] {
  const [first = {}, ...others] = (int64?.digits ?? []).map((digits) => ({ [int64?.field ?? '']: digits }));
  return [first, ...others];
}

/** JSON for REST: the digits of 64-bit integers become numbers, of any size. */
export function restBody({ description }: TestNoun, input: Values): string {
  const isInt64 = (name: string) =>
    description.fields.some((field) => field.name === name && field.kind === 'int64');
  const members = Object.entries(input).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const isNumber = isInt64(name) && /^-?\d+(\.\d+)?$/.test(String(value));
    return [`${JSON.stringify(name)}:${isNumber ? value : JSON.stringify(value)}`];
  });
  return `{${members.join()}}`;
}

/** The input as a literal in a document of GraphQL, such as `{name: "Rex", categoryId: 3, status: sold}`. */
export function literal({ description }: TestNoun, input: Values): string {
  const isBare = (name: string) =>
    description.fields.some((field) => field.name === name && /choice|int64/.test(field.kind));
  const members = Object.entries(input).map(
    ([name, value]) => `${name}: ${isBare(name) ? value : JSON.stringify(value)}`,
  );
  return `{${members.join(', ')}}`;
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
