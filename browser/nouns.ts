import { NOUNS, type NounDescription, type NounField } from '../src/nouns.js';

/** The nouns and their words, for the pages and the dashboard. */
export * from '../src/nouns.js';

/** In samples: an item of the reader has another one. */
export const SAMPLE_ID = '4711';

/** Every scope, as the command line writes them. */
export const SCOPES = [
  ...NOUNS.flatMap(({ plural }) => [`${plural}:read`, `${plural}:write`]),
  'domains',
  'keys',
];

/** A label within a sentence: `Name` → `name`; `ISBN` stays. */
export function inSentence(label: string): string {
  return /^\p{Lu}{2}/u.test(label) ? label : label.charAt(0).toLowerCase() + label.slice(1);
}

/** The field that names an item for people. */
export function headOf({ fields }: NounDescription): NounField {
  const [first] = fields;
  const head = fields.find(({ kind }) => kind === 'text') ?? first;
  if (!head) throw new Error('a noun needs a field');
  return head;
}

/** The fields that a noun's list can be filtered by, with their filters. */
export function filteredFieldsOf({ fields, filters }: NounDescription) {
  return filters.flatMap((filter) => {
    const field = fields.find(({ name }) => name === filter.field);
    return field ? [{ ...filter, field }] : [];
  });
}

/** Of a new item: `7b1f0c52-add-rex`. */
export function sampleIdempotencyKey(noun: NounDescription): string {
  const { example } = headOf(noun);
  return `7b1f0c52-add-${example.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`;
}

/** The fields of a first query: the id, the name and the choices. */
export function shownFieldsOf(noun: NounDescription): string[] {
  const head = headOf(noun);
  const shown = noun.fields.filter(({ name, kind }) => name === head.name || kind === 'choice');
  return ['id', ...shown.map(({ name }) => name)];
}

/** The value of a field in the JSON of REST. */
export function exampleValueOf({ kind, example }: NounField): string | bigint {
  return kind === 'int64' || kind === 'integer' ? BigInt(example) : example;
}
