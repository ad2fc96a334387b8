import type { Gateway } from '../app/gateway.js';
import { INT64_MAX, INT64_MIN } from '../ground/kernel/int64.js';
import type { DefinedNoun } from '../noun/define-noun.js';
import { answeredFieldsOf, capitalized } from '../noun-words.js';
import type { NounDescription, NounField } from '../nouns.js';
import { literal, plain, type Values } from './inputs.js';
import { invalidInputs } from './invalid-inputs.js';
import type { NounFacts } from './noun-facts.js';
import { type TestedAction, testedActions } from './tested-actions.js';

type Stated = Pick<NounFacts, 'input' | 'change' | 'invalid' | 'int64'>;

export interface TestedNoun extends Required<Stated> {
  readonly description: NounDescription;
  readonly fields: NounDescription['fields'];
  /** The fields of a record in answers, also the computed ones. */
  readonly shownFields: readonly NounField[];
  readonly computed: readonly string[];
  readonly actions: readonly TestedAction[];
  /** How it is ordered, and which values are unique. */
  readonly model: Pick<Model, 'fields' | 'orders' | 'rangeFilters' | 'uniques'>;
  readonly names: NounNames;
  /** A field of text with the most characters that it has; null = there is none, here and below. */
  readonly text: { readonly name: string; readonly maxLength: number } | null;
  readonly filter: TestedFilter | null;
  /** The filters by a text of a list, with a text of the first input. */
  readonly entries: readonly TestedEntry[];
  /** An input for each of the digits; {} = there is no such field, also in the two below. */
  readonly integers: readonly [Values, ...Values[]];
  /** The choice with one of its two values. */
  chosen(at: 0 | 1): Values;
  /** The values of an input that answers have. */
  shown(values: Values): Values;
  /** The field of text with this value. */
  named(text: string): Values;
  /** Both APIs read one record by its id. */
  readonly hasGet: boolean;
  /** REST has PATCH and DELETE. */
  readonly hasRecordWrites: boolean;
  /** The fields that a change may state. */
  readonly changeable: readonly string[];
  /** Further arguments of the GraphQL list, such as `ids: ["4711"]`, that find the record and have their own cursors. */
  boundLists(id: string, input: Values): readonly string[];
}

interface TestedFilter {
  readonly field: string;
  /** Its enum in GraphQL. */
  readonly type: string;
  readonly choices: readonly string[];
  readonly values: readonly [string, string];
  /** The value of each input, which only a required field states; null = a record need not have one. */
  readonly usual: string | null;
}

interface TestedEntry {
  readonly argument: string;
  readonly text: string;
  /** A change can state the list. */
  readonly isChangeable: boolean;
}

/** The names that follow from a description. */
interface NounNames {
  /** Such as `/v1/toys`. */
  readonly path: string;
  /** Root fields of GraphQL. */
  readonly one: string;
  readonly list: string;
  readonly create: string;
  readonly createAll: string;
  readonly deleted: string;
  readonly restore: string;
  readonly update: string;
  readonly remove: string;
  /** Types of GraphQL. */
  readonly newInput: string;
  readonly changes: string;
  readonly order: string;
  readonly readScope: `${string}:read`;
  readonly writeScope: `${string}:write`;
  /** Of the scope `toys:read` in GraphQL, such as `TOYS_READ`. */
  readonly readScopeName: string;
  /** `id` and the fields of answers, as a selection. */
  readonly fields: string;
  /** The table with its rows. */
  readonly table: string;
}

type Model = DefinedNoun['model'];

/** Throws an `Error` if the gateway does not serve the noun. */
export function testedNoun({ name, nouns }: Gateway, facts: NounFacts): TestedNoun {
  const found = nouns.find(({ description }) => description.singular === facts.noun);
  if (!found || !('model' in found)) {
    const served = nouns.map(({ description }) => description.singular).join(', ');
    throw new Error(`The gateway ${name} has no noun "${facts.noun}" of defineNoun; it serves ${served}.`);
  }
  const { model, get } = found as DefinedNoun;
  const { description } = model;
  if (facts.existing?.[facts.noun])
    throw new Error(`Each project of the tests begins without a ${facts.noun}. Remove it from \`existing\`.`);
  const filter = filterOf(model, facts.filter);
  const text = textOf(model, facts.text);
  const int64 = facts.int64 === undefined ? int64Of(model) : facts.int64;
  const [firstInteger = {}, ...otherIntegers] = (int64?.digits ?? []).map((digits) => ({
    [int64?.field ?? '']: digits,
  }));
  return {
    description,
    fields: description.fields,
    shownFields: answeredFieldsOf(description),
    computed: (description.computed ?? []).map(({ name }) => name),
    actions: testedActions(model, facts.actions),
    model,
    shown: (values) => {
      const hidden = description.fields.filter(({ isWriteOnly }) => isWriteOnly).map(({ name }) => name);
      return Object.fromEntries(Object.entries(values).filter(([name]) => !hidden.includes(name)));
    },
    names: namesOf(model),
    input: (n) => withUsual(filter, model, plain(facts.input(n))),
    change: (n) => plain(facts.change(n)),
    invalid: facts.invalid ?? invalidInputs(model),
    text,
    int64,
    filter,
    entries: entriesOf(model, plain(facts.input(0))),
    integers: [firstInteger, ...otherIntegers],
    chosen: (at) => (filter ? { [filter.field]: filter.values[at] } : {}),
    named: (value) => (text ? { [text.name]: value } : {}),
    hasGet: get !== false,
    hasRecordWrites: get === undefined,
    changeable: description.fields.filter(({ isImmutable }) => !isImmutable).map(({ name }) => name),
    boundLists(id, input) {
      const stated = ({ field }: Model['wholeFilters'][number]) =>
        field.name !== filter?.field && (input[field.name] ?? null) !== null;
      const lists = [
        ...model.startFilters.filter(stated).map((each) => ({ ...each, order: '' })),
        ...model.wholeFilters.filter(stated).map((each) => ({ ...each, order: 'orderBy: NEWEST, ' })),
      ];
      const given = lists.flatMap(({ argument, field, order }) => {
        const value = input[field.name];
        if (field.filter === 'has')
          return (value as string[]).slice(0, 1).map((one) => `${argument}: ${JSON.stringify(one)}`);
        const stated = literal(description, { [field.name]: value }).slice(1, -1);
        return order + stated.replace(field.name, argument);
      });
      return [...given, `ids: ["${id}"]`];
    },
  };
}

function namesOf(model: Model): NounNames {
  const { description, page, table } = model;
  const { singular, plural, type } = description;
  return {
    path: `/v1/${plural}`,
    one: singular,
    list: plural,
    create: `create${type}`,
    createAll: `create${page}`,
    deleted: `deleted${page}`,
    restore: `restore${type}`,
    update: `update${type}`,
    remove: `delete${type}`,
    newInput: `New${type}`,
    changes: `${type}Changes`,
    order: `${type}Order`,
    readScope: `${plural}:read`,
    writeScope: `${plural}:write`,
    readScopeName: `${plural.toUpperCase()}_READ`,
    fields: ['id', ...answeredFieldsOf(description).map(({ name }) => name)].join(' '),
    table,
  };
}

/** Of the lists that the first input states. */
function entriesOf({ wholeFilters }: Model, input: Values): TestedEntry[] {
  return wholeFilters.flatMap(({ argument, field }) => {
    const list = field.filter === 'has' ? input[field.name] : null;
    const text = Array.isArray(list) ? list.at(-1) : undefined;
    return text === undefined ? [] : [{ argument, text, isChangeable: field.options.immutable !== true }];
  });
}

/** In tests it must be long enough for a name. */
const SHORTEST_TEXT = 8;

function textOf({ description, fields }: Model, stated: NounFacts['text']): TestedNoun['text'] {
  const accepts = ({ kind, options, isRequired }: Model['fields'][number]) =>
    kind.name === 'text' && isRequired && !options.unique && !('pattern' in options);
  const name = stated === undefined ? fields.find(accepts)?.name : stated;
  const { maxLength = 0 } = description.fields.find((field) => field.name === name) ?? {};
  return name && maxLength >= SHORTEST_TEXT ? { name, maxLength } : null;
}

/** A reference to a record that must exist accepts few integers. */
function int64Of({ fields }: Model): TestedNoun['int64'] {
  const field = fields.find(
    ({ kind, options }) =>
      kind.name === 'int64' &&
      kind.reference?.mustExist !== true &&
      !options.unique &&
      options.immutable !== true,
  );
  if (!field) return null;
  const { minimum, maximum } = field.kind.schema as { minimum?: number; maximum?: number };
  const [min, max] = [BigInt(minimum ?? INT64_MIN), BigInt(maximum ?? INT64_MAX)];
  // A number of JavaScript has not these digits.
  const integers = [max, min, 2n ** 53n + 1n, 0n].filter((each) => each >= min && each <= max);
  return { field: field.name, digits: [...new Set(integers.map(String))] };
}

/** A field that a record may lack says most, one with a default more than a required one. */
function filterOf({ description, wholeFilters }: Model, stated: NounFacts['filter']): TestedFilter | null {
  if (stated === null) return null;
  const rank = ({ isSet, isRequired }: Model['fields'][number]) => Number(isSet) + Number(isRequired);
  const [field] = wholeFilters
    .map((each) => each.field)
    .filter(({ name, kind, options }) =>
      stated ? name === stated.field : Object.keys(kind.choices ?? {}).length > 1 && !options.immutable,
    )
    .toSorted((one, other) => rank(one) - rank(other));
  if (!field) return null;
  const choices = Object.keys(field.kind.choices ?? {});
  const [first = ''] = choices;
  const usual = field.isSet ? String(field.options.default ?? stated?.values[1] ?? first) : null;
  const [one = '', other = usual ?? ''] = choices.filter((choice) => choice !== usual);
  const type = description.type + capitalized(field.name);
  return { field: field.name, type, choices, values: stated?.values ?? [one, other], usual };
}

function withUsual(filter: TestedFilter | null, { fields }: Model, input: Values): Values {
  if (!filter) return input;
  const { [filter.field]: _, ...others } = input;
  const isRequired = fields.some(({ name, isRequired }) => name === filter.field && isRequired);
  return isRequired ? { ...others, [filter.field]: filter.usual } : others;
}
