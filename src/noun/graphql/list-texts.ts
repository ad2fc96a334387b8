import { inSentence } from '../../noun-words.js';
import { type ModelFilter, type RangeFilter, rangeWordsOf } from '../definition/lists.js';
import type { ModelField, NounModel } from '../definition/model.js';
import { isByEntry } from '../records/noun-list.js';

/** The description of the enum of a list's orders, and that of each. */
export function orderTexts({
  description,
  startFilters: [start, ...others],
  rangeFilters: [range],
  orders,
}: NounModel): [description: string, texts: Record<string, string>] {
  const { singular, plural } = description;
  const name = start && others.length === 0 ? inSentence(start.field.label) : 'the text';
  const byStart = start ? `, or by ${name} if the list is filtered by ${name}` : '';
  const byRange = range ? ', or by the field of a range if the list has one' : '';
  const byField = orders.length > 0 ? ', or by the field that the value names' : '';
  const ordered = (from: string, ofRange: string) =>
    (start ? ` With \`${start.argument}\`: by ${name} from ${from}.` : '') +
    (range ? ` With a range such as \`${range.from}\`: by its field, the ${ofRange} value first.` : '');
  const ofFields = orders.map(({ name: order, field, isDescending }, at) => {
    const unset = field.isSet ? '' : `, and ${plural} without one come ${isDescending ? 'last' : 'first'}`;
    const label = inSentence(field.label);
    return [
      order,
      isDescending
        ? `The exact reverse of \`${orders[at - 1]?.name}\`: by ${label}, the ${endsOf(field)[1]} first${unset}.`
        : `By ${label}, the ${endsOf(field)[0]} first${unset}; ${plural} with the same ${label} by age.`,
    ];
  });
  return [
    `The order of a list of ${plural}: by the time they were added${byStart}${byRange}${byField}.`,
    {
      OLDEST: `The ${singular} that was added first comes first.${ordered('A to Z', 'least')}`,
      NEWEST: `The exact reverse of \`OLDEST\`: the ${singular} that was added last comes first.${ordered('Z to A', 'greatest')}`,
      ...Object.fromEntries(ofFields),
    },
  ];
}

function endsOf({ kind }: ModelField): [string, string] {
  if (kind.name === 'text') return ['first by code point', 'last by code point'];
  return /^date/.test(kind.name) ? ['earliest', 'latest'] : ['least', 'greatest'];
}

export function afterText({ description, startFilters, wholeFilters, rangeFilters }: NounModel): string {
  const others = [
    ...startFilters.map(({ argument }) => `\`${argument}\``),
    ...rangeFilters.flatMap(({ from, before }) => [`\`${from}\``, `\`${before}\``]),
    ...wholeFilters.filter(isByEntry).map(({ argument }) => `\`${argument}\``),
    '`ids`',
  ];
  const shared = wholeFilters.filter((filter) => !isByEntry(filter)).map(({ argument }) => `\`${argument}\``);
  const sharing =
    shared.length === 0
      ? ''
      : ` Without ${inList(others)}, the cursors of \`OLDEST\` are valid for any ${inList(shared)}.`;
  return `Only ${description.plural} after this cursor of the same list. A cursor belongs to its order and filters; any other is refused with \`INVALID_REQUEST\`.${sharing}`;
}

export function wholeText(model: NounModel, filter: ModelFilter): string {
  const { plural } = model.description;
  const { field } = filter;
  const label = inSentence(field.label);
  if (isByEntry(filter))
    return `Only ${plural} whose ${label} have exactly this text, such as \`${field.example}\`: case, accents and spaces included. The list is ordered by age: no other order, and no other filter of this kind, can be combined with it.`;
  const unset = field.isSet ? '' : ` and ${plural} without one`;
  return `Only ${plural} with this ${label}, such as \`${field.example}\`. Without it, ${plural} of any ${label}${unset}.`;
}

export function startText({ description: { plural } }: NounModel, { field }: ModelFilter): string {
  const label = inSentence(field.label);
  const example = field.options.words?.start ?? `\`${field.example.slice(0, 2)}\` for ${field.example}`;
  return `Only ${plural} whose ${label} starts with this text of 1 to ${field.kind.column.length} characters, for example ${example}. It is compared as stored, character by character: case-sensitive, spaces and accents included, \`%\` and \`_\` as themselves. The list is then ordered by ${label} (by code point), and ${plural} with the same ${label} by age.`;
}

/** Of both arguments of a range. */
export function boundTexts(
  { description: { plural } }: NounModel,
  { field, from, before }: RangeFilter,
): [from: string, before: string] {
  const label = inSentence(field.label);
  const [isFrom, isBefore] = rangeWordsOf(field);
  const unset = field.isSet ? '' : ` It has no ${plural} without one.`;
  const rest = `The list is then ordered by ${label}: no other order can be combined with it.${unset}`;
  return [
    `Only ${plural} whose ${label} is ${isFrom}, such as \`${field.example}\`. ${rest}`,
    `Only ${plural} whose ${label} is ${isBefore}, such as \`${field.example}\`. With \`${from}\` it is a range, which does not have \`${before}\` itself. ${rest}`,
  ];
}

const inList = (words: readonly string[]) => LIST.format(words);
const LIST = new Intl.ListFormat('en');
