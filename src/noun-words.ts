import type { NounDescription, NounField } from './nouns.js';

/** A gateway in words, for its pages, its documents and its dashboard. */
export interface GatewayDescription {
  /** Of the product, such as `Library Gateway`. */
  readonly name: string;
  /** Its name in headers, metrics and traces, such as `library`. */
  readonly slug: string;
  /** SVG; absent = the usual one. */
  readonly icon?: string;
  /** Such as `#7a1f5c`; absent = the usual one. */
  readonly accentColor?: string;
  /** The first one is that of examples that need only one. */
  readonly nouns: readonly [NounDescription, ...NounDescription[]];
}

/** The data of a gateway for the scripts of its pages. */
export interface GatewayBlock extends Pick<GatewayDescription, 'name' | 'nouns'> {
  /** The path of the gateway's icon; absent = the usual one. */
  readonly icon?: string | null;
}

/** In samples: an item of the reader has another one. */
export const SAMPLE_ID = '4711';

/** As in `Requests for books and films`. */
export function joined(nouns: readonly NounDescription[]): string {
  return new Intl.ListFormat('en').format(nouns.map(({ plural }) => plural));
}

/** Every scope, as the command line writes them. */
export function scopesOf(nouns: readonly NounDescription[]): string[] {
  return [...nouns.flatMap(scopesOfNoun).map(({ scope }) => scope), 'domains', 'keys'];
}

/** The scopes of a noun, and what each allows. */
export function scopesOfNoun({ plural, fields, actions = [] }: NounDescription) {
  const scope = (act: string): `${string}:${string}` => `${plural}:${act}`;
  const readScopes = new Set(fields.flatMap(({ readScope }) => readScope ?? []));
  const labelsOf = (name: string) =>
    fields.filter(({ readScope }) => readScope === name).map(({ label }) => inSentence(label));
  return [
    { scope: scope('read'), allows: `read ${plural}` },
    { scope: scope('write'), allows: `create and change ${plural}` },
    ...actions.map(({ name, description }) => ({
      scope: scope(name),
      allows: inSentence(withoutStop(description)),
    })),
    ...[...readScopes].map((name) => ({
      scope: scope(name),
      allows: `with \`${plural}:read\`, read ${listed(labelsOf(name))} of ${plural}`,
    })),
  ];
}

/** `Books` for `books`. */
export function capitalized(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

/** As in `title, pages and state`. */
export const listed = (words: readonly string[]) => new Intl.ListFormat('en-GB').format(words);

/** The field's value in messages to people, such as `a title`. */
export function valueInWords({ label, withArticle }: NounField): string {
  return withArticle ?? `a ${label.toLowerCase()}`;
}

/** The beginning of a longer sentence. */
export function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}

/** A label within a sentence: `Name` → `name`; `ISBN` stays. */
export function inSentence(label: string): string {
  return /^\p{Lu}{2}/u.test(label) ? label : label.charAt(0).toLowerCase() + label.slice(1);
}

/** The fields that answers have. */
export function readableFieldsOf({ fields }: Pick<NounDescription, 'fields'>): NounField[] {
  return fields.filter(({ isWriteOnly }) => !isWriteOnly);
}

/** The readable fields and the computed fields: all that an answer can have. */
export function answeredFieldsOf(noun: Pick<NounDescription, 'fields' | 'computed'>): NounField[] {
  return [...readableFieldsOf(noun), ...(noun.computed ?? [])];
}

/** The field that names an item for people. */
export function headOf({ fields }: NounDescription): NounField {
  const readable = readableFieldsOf({ fields });
  const head = readable.find(({ kind }) => kind === 'text') ?? readable[0];
  if (!head) throw new Error('a noun needs a field');
  return head;
}

/** The fields that a noun's list can be filtered by, with their filters. Of a filter by an entry, the field is one entry. */
export function filteredFieldsOf({ fields, filters }: NounDescription) {
  return filters.flatMap((filter) => {
    const field = fields.find(({ name }) => name === filter.field);
    return field ? [{ ...filter, field: filter.match === 'has' ? entryOf(field) : field }] : [];
  });
}

function entryOf(field: NounField): NounField {
  const [example = ''] = JSON.parse(field.example) as string[];
  return { ...field, kind: 'text', json: 'text', scalar: 'String', example };
}

/** Of a new item: `7b1f0c52-add-rex`. Another act needs another key. */
export function sampleIdempotencyKey(noun: NounDescription, act = 'add'): string {
  const { example } = headOf(noun);
  return `7b1f0c52-${act}-${example.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`;
}

/** The fields of a first query: the id, the name and the choices. */
export function shownFieldsOf(noun: NounDescription): string[] {
  const head = headOf(noun);
  const shown = readableFieldsOf(noun).filter(({ name, kind }) => name === head.name || kind === 'choice');
  return ['id', ...shown.map(({ name }) => name)];
}

/** The value of a field in the JSON of REST. */
export function exampleValueOf({ json, example }: NounField): unknown {
  if (json === 'integer') return BigInt(example);
  return json === 'text' ? example : JSON.parse(example);
}
