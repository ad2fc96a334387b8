import type { FieldProblem } from '../../ground/kernel/errors.js';
import { capitalized, inSentence } from '../../noun-words.js';

import type { NounDescription, NounExample, NounField } from '../../nouns.js';
import { type Field, type ModelField, textOf, unknownOption } from '../kinds/kind.js';
import { describedReference, recordNameOf } from '../kinds/reference.js';
import { listsOf, type NounLists } from './lists.js';

export type { ModelField };

/** A definition with everything that follows from it. Plain data: it loads neither a database nor an API. */
export interface NounModel extends NounLists {
  readonly description: NounDescription;
  /** `Books`. */
  readonly page: string;
  readonly table: string;
  readonly fields: readonly ModelField[];
  readonly uniques: readonly ModelUnique[];
  readonly checks: ((record: never) => FieldProblem[]) | null;
  /** A deleted record can be restored. */
  readonly hasTrash: boolean;
  readonly computed: readonly ModelComputed[];
  /** The fields of a record in answers: the readable fields and the computed fields. */
  readonly shown: readonly ModelField[];
  readonly actions: readonly ModelAction[];
  /** Returns further fields to change of a write, or throws a refusal. */
  readonly beforeWrite: ((change: never) => unknown) | null;
  readonly afterCommit: ((change: never, call: { readonly signal: AbortSignal }) => unknown) | null;
  readonly inputExamples: NounWords['inputExamples'];
}

/** A field of which each answer computes the value. */
export interface ModelComputed {
  readonly field: ModelField;
  of(record: object, at: { readonly now: string }): unknown;
}

/** An operation of clients on one record, apart from the change of its fields. */
export interface ModelAction {
  /** Also its path behind a record, and the end of its scope: `deliver` needs `shipments:deliver`. */
  readonly name: string;
  /** Its root field in GraphQL, and its operation in REST: `deliverShipment`. */
  readonly operation: string;
  /** The type of its input in both APIs: `DeliverShipmentInput`. */
  readonly inputType: string;
  readonly label: string;
  /** A sentence. */
  readonly description: string;
  /** Of its input. */
  readonly fields: readonly ModelField[];
  /** Returns the fields to change, or throws a refusal. */
  run(record: object, input: object, at: { readonly now: string }): unknown;
}

/** Values that no two records of a project share. A record that lacks one of them shares none. */
export interface ModelUnique {
  readonly field: ModelField;
  /** Empty = the value of the field alone. */
  readonly together: readonly ModelField[];
}

/** The words of a noun; most follow from its name. */
export interface NounWords {
  readonly name: string;
  readonly plural?: string;
  /** Its type in GraphQL. */
  readonly type?: string;
  /** With its article, such as `an order`. */
  readonly withArticle?: string;
  readonly icon?: NounDescription['icon'];
  /** Of the home page, if it is the first noun. */
  readonly headline?: string;
  /** Operations that GraphiQL offers. */
  readonly examples?: readonly NounExample[];
  /** In GraphQL's form, for the texts of the inputs, such as `{title: "Emma"}`. */
  readonly inputExamples?: { readonly create: string; readonly change: string };
  /** GraphQL has `bookCount`. */
  readonly count?: boolean;
  /** Both APIs have the changes of the records, when an operator switches the change log on. */
  readonly changes?: boolean;
  /** A deleted record is hidden, and can be restored for 30 days. It needs the usual `get`. */
  readonly softDelete?: boolean;
}

/** Throws an `Error` that names the field and the option that cannot work. */
export function modelOf(
  words: NounWords,
  fields: Readonly<Record<string, Field>>,
  checks: NounModel['checks'],
): NounModel {
  const { name, plural = pluralOf(name), type = capitalized(name) } = words;
  const refuse = (problem: string): never => {
    throw new Error(`The noun ${name}: ${problem}`);
  };
  for (const each of [name, plural, ...Object.keys(fields)]) {
    if (!NAME.test(each))
      refuse(`"${each}" is no name. Begin with a small letter, and use at most 40 letters and digits.`);
  }
  if (WORDS_OF_SQL.includes(inSnakeCase(plural)))
    refuse(`${plural} is a word of SQL. Give it another plural.`);
  // REST promises cursors of at most 64 characters, and they contain the name.
  if (name.length > 24) refuse('its name has more than 24 letters.');
  const modelled = Object.entries(fields).map(([field, each]) => modelField(name, field, each, refuse));
  if (modelled.length === 0) refuse('it needs a field.');
  if (modelled.every(({ options }) => options.immutable))
    refuse('every field is immutable, so no change is possible. Let one change.');
  const readable = modelled.filter(({ options }) => options.writeOnly !== true);
  if (readable.length === 0) refuse('every field is writeOnly, so an answer has nothing. Let one be read.');
  if (words.softDelete && OF_DELETED.includes(name))
    refuse('a deleted record has a field of this name. Choose another.');
  if (words.changes && OF_CHANGES.includes(name))
    refuse('a change has a field of this name. Choose another.');
  const { filters, ...lists } = listsOf(modelled, refuse);
  const withArticle =
    words.withArticle ?? `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${inWords(name).toLowerCase()}`;
  const description: NounDescription = {
    singular: name,
    plural,
    type,
    withArticle,
    ...(words.icon && { icon: words.icon }),
    headline: words.headline ?? `A typed, metered API for ${inWords(plural).toLowerCase()}`,
    fields: modelled.map((field) => {
      const reference = describedReference(field, plural, { taken: TAKEN, refuse });
      return { ...describedField(field), ...(reference && { reference }) };
    }),
    filters,
    hasCount: words.count === true,
    hasChanges: words.changes === true,
    ...(words.softDelete && { hasTrash: true }),
    ...(words.examples && { examples: words.examples }),
  };
  return {
    description,
    page: capitalized(plural),
    table: inSnakeCase(plural),
    fields: modelled,
    uniques: modelled.flatMap((field) => uniqueOf(field, modelled, refuse)),
    ...lists,
    checks,
    hasTrash: words.softDelete === true,
    computed: [],
    shown: readable,
    actions: [],
    beforeWrite: null,
    afterCommit: null,
    inputExamples: words.inputExamples,
  };
}

export const NAME = /^[a-z][a-zA-Z0-9]{0,39}$/;
/** No table can have these names without quotes. */
const WORDS_OF_SQL = ['groups', 'keys', 'lines', 'rows', 'values'];
/** Names that the platform gives the properties of records, or the arguments of lists. */
const TAKEN = [
  'id',
  'createdAt',
  'createdAtMs',
  'deletedAtMs',
  'projectId',
  'node',
  'cursor',
  'first',
  'after',
  'ids',
  'orderBy',
  'limit',
  'logNumber',
  'logAtMs',
];
/** `BookOrder` and such are types of the noun, so no choice can have the name. */
const TYPES = ['order', 'edge', 'connection', 'change', 'changes', 'changeConnection'];
/** Every noun has scopes with these ends. */
const OWN_SCOPES = ['read', 'write'];
/** A deleted record in an answer has these fields beside the record. */
const OF_DELETED = ['deletedAt', 'restorableUntil'];
/** A change in an answer has these fields beside the record. */
const OF_CHANGES = ['cursor', 'kind', 'at'];

export function modelField(
  noun: string,
  name: string,
  field: Field,
  refuse: (problem: string) => never,
): ModelField {
  if (!field?.kind) refuse(`${name} is no kind of field, such as text({ max: 255 }).`);
  const unknown = unknownOption(field);
  if (unknown)
    refuse(
      `${name} has the option ${unknown.stated}, which ${field.kind.name} does not have. It has ${unknown.known.join(', ')}.`,
    );
  const { options } = field;
  // Inherited names, such as valueOf, are in every object.
  if (TAKEN.includes(name) || name in {})
    refuse(`the platform uses the name ${name}. Choose another name for the field.`);
  if (field.kind.choices && TYPES.includes(name))
    refuse(`the platform has a type for ${name}. Choose another name for the choice.`);
  // MySQL and SQLite read a backslash in SQL differently.
  if (textOf(options.default).includes('\\')) refuse(`the default of ${name} has a backslash.`);
  const { readScope, writeOnly } = options;
  if (readScope !== undefined && (!NAME.test(readScope) || OWN_SCOPES.includes(readScope)))
    refuse(`the readScope of ${name} is the end of a scope of its own, such as costs, not ${readScope}.`);
  if (readScope !== undefined && writeOnly) refuse(`${name} has a readScope and is writeOnly. Choose one.`);
  if ((writeOnly || readScope !== undefined) && (field.filter !== null || options.sort))
    refuse(`not every key reads ${name}, and its lists would tell its values. Remove filter and sort.`);
  if (options.optional && options.default !== undefined)
    refuse(`${name} is optional and has a default. Choose one.`);
  // All records that exist would get the same value.
  if (options.unique && options.default !== undefined)
    refuse(`${name} is unique and has a default. Choose one.`);
  const isSet = options.optional !== true;
  const { reference } = field.kind;
  const label = options.label ?? inWords((reference && recordNameOf(name, reference)) ?? name);
  const usual = reference
    ? `The identifier of the ${inWords(noun).toLowerCase()}'s ${inWords(reference.noun).toLowerCase()}.`
    : `The ${inWords(noun).toLowerCase()}'s ${inSentence(label)}.`;
  return {
    ...field,
    name,
    column: inSnakeCase(name),
    label,
    description: options.description ?? usual,
    isSet,
    isRequired: isSet && options.default === undefined,
  };
}

function uniqueOf(
  field: ModelField,
  fields: readonly ModelField[],
  refuse: (problem: string) => never,
): ModelUnique[] {
  const { unique = false } = field.options;
  if (unique === false) return [];
  const names = unique === true ? [] : unique;
  const together = names.map((name) => {
    const other = fields.find((each) => each.name === name && each !== field);
    return other ?? refuse(`${field.name} is unique with ${name}, which is no other field.`);
  });
  if (unique !== true && (names.length === 0 || new Set(names).size < names.length))
    refuse(`${field.name} is unique with no field, or twice with one. Name each once, or write true.`);
  return [{ field, together }];
}

export function describedField({ name, label, kind, isRequired, options, example }: ModelField): NounField {
  const entry = kind.each ?? kind;
  return {
    name,
    label,
    ...(options.article && { withArticle: options.article }),
    kind: kind.name,
    json: kind.json,
    scalar: kind.choices ? null : kind.most ? `[${kind.scalar}!]` : kind.scalar,
    isRequired,
    ...(options.default !== undefined && { default: textOf(options.default) }),
    ...(options.immutable && { isImmutable: true }),
    ...(options.writeOnly && { isWriteOnly: true }),
    ...(options.readScope !== undefined && { readScope: options.readScope }),
    ...(options.sort && { isSorted: true }),
    ...(entry.name === 'text' && { maxLength: Number(entry.column.length) }),
    ...(kind.choices && { choices: Object.keys(kind.choices), choiceTexts: Object.values(kind.choices) }),
    ...(kind.json === 'boolean' && { choices: ['false', 'true'] }),
    ...(kind.tones && { tones: kind.tones }),
    ...(options.hint && { hint: options.hint }),
    example,
  };
}

/** `priceCents` → `Price cents`. */
export function inWords(name: string): string {
  return capitalized(name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
}

/** `priceCents` → `price_cents`, as a column or a table. */
export function inSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function pluralOf(name: string): string {
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`;
  return `${name}${/(s|x|z|ch|sh)$/.test(name) ? 'es' : 's'}`;
}
