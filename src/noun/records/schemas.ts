import { RecordRules } from '../../ground/kernel/record-rules.js';
import {
  MAX_PAGE_SIZE,
  type ObjectSchema,
  pageSizeSchema,
  validator,
} from '../../ground/kernel/validation.js';
import { CHANGE_KINDS } from '../../ground/records/change-log.entity.js';
import { inSentence, withoutStop } from '../../noun-words.js';
import { type ModelFilter, type RangeFilter, rangeWordsOf, SORT } from '../definition/lists.js';
import type { ModelField, NounModel } from '../definition/model.js';
import { jsonOf } from '../kinds/kind.js';
import { cursorLengthOf } from './noun-cursors.js';
import { isByEntry } from './noun-list.js';
import type { NounRow } from './row.js';

type Properties = ObjectSchema['properties'];

/**
 * The resources of a noun as JSON Schema: both APIs check with them, Fastify serializes, and the OpenAPI document, which alone
 * needs the name of the header, shows them.
 */
export function schemasOf(model: NounModel, changesCursor = '') {
  const { description, shown, wholeFilters, rangeFilters } = model;
  const { singular, plural, withArticle } = description;
  const properties = propertiesOf(shown);
  const record = {
    type: 'object',
    description: `${withArticle.charAt(0).toUpperCase()}${withArticle.slice(1)}.`,
    required: ['id', ...shown.filter(isInEveryAnswer).map(({ name }) => name)],
    properties: {
      id: {
        type: 'integer',
        format: 'int64',
        description: 'Unique identifier assigned on creation.',
        examples: [4711],
      },
      ...properties,
    },
  } as const;
  const filtersWith = (textOf: (filter: ModelFilter) => string): Properties =>
    Object.fromEntries(
      wholeFilters.map((filter) => {
        // Of a new record: a list without the filter has all records.
        const { default: _, ...property } = propertyOf(filter.field);
        return [filter.argument, { ...property, description: textOf(filter) }];
      }),
    );
  const cursor = {
    type: 'string',
    minLength: 1,
    maxLength: cursorLengthOf(model),
    description: 'Start of the page, from the `Link` header of the previous page.',
    rule: 'must be a cursor from a Link header of this list',
  } as const;
  return {
    record,
    records: { type: 'array', description: `A page of ${plural}.`, items: record } as const,
    listQuery: {
      type: 'object',
      properties: {
        limit: pageSizeSchema(plural),
        ...filtersWith((filter) =>
          isByEntry(filter)
            ? `Only ${plural} whose ${inSentence(filter.field.label)} have exactly this text. No order by a field, and no other filter of this kind, can be combined with it.`
            : `Filters by ${inSentence(filter.field.description)}`,
        ),
        ...Object.assign({}, ...rangeFilters.map((range) => boundsOf(range, plural))),
        ...sortParameter(model),
        cursor,
      },
    } as ObjectSchema,
    /** REST's form of GraphQL's changes. */
    changes: {
      type: 'array',
      description: `Changes of ${plural}, in the order of their commits.`,
      items: {
        type: 'object',
        description: `A change of ${withArticle}.`,
        required: ['cursor', 'kind', 'at', singular],
        properties: {
          cursor: { type: 'string', description: 'The position in the change log behind this change.' },
          kind: { type: 'string', enum: CHANGE_KINDS, description: 'What happened.' },
          at: { type: 'string', format: 'date-time', description: 'When it happened.' },
          [singular]: record,
        },
      },
    } as const,
    changesQuery: {
      type: 'object',
      properties: {
        limit: { ...pageSizeSchema('changes'), default: MAX_PAGE_SIZE },
        ...filtersWith(
          (filter) =>
            `Only changes of ${plural} that have ${isByEntry(filter) ? 'this text in their' : 'this'} ${inSentence(filter.field.label)}, or had it before the change.`,
        ),
        cursor: {
          ...cursor,
          maxLength: CURSOR_LENGTH,
          description: `Only changes behind this position: the cursor of a change, or \`${changesCursor}\` of a list.`,
          rule: 'must be a cursor of the change log',
        },
      },
    } as ObjectSchema,
  };
}

/** Not every key reads a field with a scope of its own. */
const isInEveryAnswer = ({ isSet, options }: ModelField) => isSet && options.readScope === undefined;

/** Of the change log. */
const CURSOR_LENGTH = 64;

/** The two parameters of a range. */
function boundsOf({ field, from, before }: RangeFilter, plural: string): Properties {
  const { kind, label, example } = field;
  const schema = {
    ...kind.order?.bound,
    rule: kind.order?.bound?.rule ?? '',
    examples: [jsonOf(kind, example)],
  };
  const words = rangeWordsOf(field);
  const text = (bound: string) =>
    `Only ${plural} whose ${inSentence(label)} is ${bound}. The list is then ordered by it.`;
  return {
    [from]: { ...schema, description: text(words[0]) },
    [before]: { ...schema, description: text(words[1]) },
  };
}

/** Absent if no field of the noun has an order. */
function sortParameter({ description, orders }: NounModel): Properties {
  if (orders.length === 0) return {};
  const parameters = orders.map(({ parameter }) => parameter);
  const unset = orders.some(({ field }) => !field.isSet)
    ? ` Those without a value come first, and with \`-\` last.`
    : '';
  const text = `The order of the ${description.plural}: by this field, or with \`-\` in the exact reverse.${unset} Without it, by a range's field or oldest first.`;
  return {
    [SORT]: {
      type: 'string',
      enum: parameters,
      description: text,
      rule: `must be one of ${parameters.join(', ')}`,
    },
  };
}

/** The schema of a new record. */
export function newSchemaOf({ fields }: Pick<NounModel, 'fields'>): ObjectSchema {
  return {
    type: 'object',
    required: fields.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    properties: propertiesOf(fields),
  };
}

/** The schema of the changes of a record. Null removes an optional value. */
export function patchSchemaOf({ fields }: NounModel): ObjectSchema {
  const changeable = fields.filter(({ options }) => options.immutable !== true);
  const properties = changeable.map((field): [string, Properties[string]] => {
    const { default: _, ...property } = propertyOf(field);
    return [field.name, field.isSet ? property : orNull(property)];
  });
  return { type: 'object', properties: Object.fromEntries(properties) };
}

function orNull(property: Properties[string]): Properties[string] {
  const { type, enum: values } = property;
  return { ...property, type: [type, 'null'], ...(Array.isArray(values) && { enum: [...values, null] }) };
}

/** The rules of both APIs and of files. */
export function rulesOf(
  model: NounModel,
  immutable = model.fields.filter(({ options }) => options.immutable).map(({ name }) => name),
): RecordRules<NounRow> {
  requireValid(model);
  const checks = model.checks as ((record: NounRow) => never[]) | null;
  return new RecordRules<NounRow>(newSchemaOf(model), { check: checks, immutable, normal: normalOf(model) });
}

/** The rules of an action's input. */
export function inputRulesOf(model: NounModel, { fields }: Pick<NounModel, 'fields'>): RecordRules<NounRow> {
  return rulesOf({ ...model, fields, checks: null });
}

/** The functions that give a valid value its one form, by field. */
function normalOf({ fields }: NounModel): Readonly<Record<string, (value: unknown) => unknown>> {
  return Object.fromEntries(fields.flatMap(({ name, kind: { normal } }) => (normal ? [[name, normal]] : [])));
}

/** Defaults and examples keep the rules too. Throws an `Error` that names the field. */
function requireValid({ description, fields }: NounModel): void {
  for (const { name, kind, options, example } of fields) {
    const problemsOf = validator({ type: 'object', properties: { [name]: kind.schema } });
    const stated = { default: options.default, example: kind.parse?.(example) ?? jsonOf(kind, example) };
    for (const [option, value] of Object.entries(stated)) {
      const [problem] = value === undefined ? [] : problemsOf({ [name]: value });
      if (problem)
        throw new Error(`The noun ${description.singular}: the ${option} of ${name} ${problem.message}.`);
    }
  }
}

function propertiesOf(fields: readonly ModelField[]): Properties {
  return Object.fromEntries(fields.map((field) => [field.name, propertyOf(field)]));
}

function propertyOf({ kind, options, description, example }: ModelField): Properties[string] {
  const { rule, ...schema } = kind.schema;
  const isBlankable = kind.name !== 'text' || schema.pattern !== '\\S';
  const more = isBlankable ? '' : ' It must not be only blanks, nor contain NUL or a lone surrogate.';
  const byDefault = options.default;
  return {
    ...schema,
    description: `${withoutStop(options.words?.rest ?? description)}.${more}`,
    ...(byDefault === undefined
      ? {}
      : { default: typeof byDefault === 'bigint' ? Number(byDefault) : byDefault }),
    examples: [jsonOf(kind, example)],
    ...(options.writeOnly && { writeOnly: true }),
    rule,
  };
}
