import { Field, ID, InputType, Int } from 'type-graphql';
import {
  COUNTED_BY_FIRST,
  DATE_TIME,
  describedEnum,
  Entries,
  PlainType,
} from '../../doors/graphql/operations/type-options.js';
import { changeTypes } from '../../doors/graphql/schema/lists/change.type.js';
import { NodesPageInfo, PageInfoType } from '../../doors/graphql/schema/lists/page.js';
import { capitalized, inSentence, withoutStop } from '../../noun-words.js';
import type { ModelField, NounModel } from '../definition/model.js';
import { textOf } from '../kinds/kind.js';
import type { Values } from '../records/noun.service.js';
import { NounCursors } from '../records/noun-cursors.js';
import type { ListedRow, NounListRequest, NounPage } from '../records/noun-list.js';
import type { NounRow } from '../records/row.js';

export type NounTypes = ReturnType<typeof nounTypes>;

/** The types of a noun: the record, its connection, its inputs and its changes. Call it once for a noun. */
export function nounTypes(model: NounModel) {
  const { description, fields, shown, table } = model;
  const { singular, plural, type, withArticle, hasChanges } = description;
  const fieldTypes = fieldTypesOf(type, [...new Set([...fields, ...shown])]);
  const typeOf = ({ name }: ModelField) => fieldTypes.get(name) as object;

  @PlainType(type, `${capitalized(withArticle)}.`)
  class RecordType {
    @Field(() => ID, {
      description: 'Unique identifier assigned on creation: the digits of a 64-bit integer.',
    })
    id!: string;

    @Field(() => DATE_TIME, { description: `When the ${singular} was added.` })
    createdAt!: Date;
  }
  for (const field of shown) {
    const { readScope } = field.options;
    const unset = field.isSet ? '' : '; null when none was set';
    const hidden = readScope === undefined ? '' : `; null without the scope \`${plural}:${readScope}\``;
    const text = `${withForm(withoutStop(field.description), field.kind.form)}${unset}${hidden}.`;
    const nullable = !field.isSet || readScope !== undefined;
    addField(RecordType, field.name, typeOf(field), { description: text, nullable });
    if (field.kind.most !== undefined) Entries(field.kind.most)(RecordType.prototype, field.name);
  }

  @PlainType(`${type}Edge`, `${capitalized(withArticle)} and its position in the list.`)
  class EdgeType {
    @Field(() => String, { description: `The position of this ${singular}, for \`after\`.` })
    cursor!: string;

    @Field(() => RecordType, { description: `The ${singular}.` })
    node!: RecordType;
  }

  @PlainType(`${type}Connection`, `A page of ${plural}, in the order of the list.`)
  class ConnectionType {
    @Entries(COUNTED_BY_FIRST)
    @Field(() => [EdgeType], { description: `The ${plural} with their cursors.` })
    edges!: EdgeType[];

    @Entries(COUNTED_BY_FIRST)
    @Field(() => [RecordType], { description: `The ${plural} without cursors.` })
    nodes!: RecordType[];

    @Field(() => PageInfoType, { description: 'The position of the page in the list.' })
    pageInfo!: PageInfoType;

    changesCursor!: string | null;
  }
  if (hasChanges) {
    addField(ConnectionType, 'changesCursor', String, {
      nullable: true,
      description: `Follow \`${singular}Changes\` from here: its changes are those after this page was read. Null while the change log of the project is off.`,
    });
  }

  @PlainType(
    `Deleted${type}`,
    `The result of \`delete${type}\`. A deleted ${singular} ${model.hasTrash ? `can be restored for 30 days, by \`restore${type}\`` : 'cannot be restored'}.`,
  )
  class DeletedType {
    @Field(() => ID, {
      description: `The identifier that the ${singular} had, such as \`4711\`; no other ${singular} gets it.`,
    })
    id!: string;
  }

  const { create, change } = model.inputExamples ?? inputExamples(model);
  @InputType(`New${type}`, {
    description: `${capitalized(withArticle)} to create, for example \`${create}\`.`,
  })
  class NewInput {}
  for (const field of fields) {
    const description = inputText(field, field.options.words?.input ?? `Its ${inSentence(field.label)}`);
    addField(NewInput, field.name, typeOf(field), { description, nullable: !field.isRequired });
  }

  @InputType(`${type}Changes`, {
    description: `Changes to ${withArticle}; a field left out stays as it is. For example \`${change}\`.`,
  })
  class ChangesInput {}
  for (const field of fields.filter(({ options }) => options.immutable !== true)) {
    const label = inSentence(field.label);
    const form = field.kind.name === 'text' ? `: ${formOf(field)}` : '';
    const text = `Its new ${label}${form}${field.isSet ? ', never null' : `; null removes the ${label}`}.`;
    addField(ChangesInput, field.name, typeOf(field), { description: text, nullable: true });
  }

  const present = (row: NounRow) => presented(model, row) as RecordType & object;
  return {
    fieldTypes,
    RecordType,
    ConnectionType,
    DeletedType,
    NewInput,
    ChangesInput,
    changes: hasChanges ? changeTypes(description, RecordType, present) : null,
    present,
    presentPage: pagePresenter(model),
    table,
  };
}

/** graphql's ID can't serialize a bigint, and a JavaScript client could not read one. */
function presented({ shown }: NounModel, row: NounRow): object {
  const record: Record<string, unknown> = { id: String(row.id) };
  for (const field of shown) {
    const value = row[field.name];
    record[field.name] = value === null ? null : (field.kind.toGraphQL?.(value) ?? value);
  }
  record.createdAt = new Date(row.createdAtMs);
  return record;
}

/**
 * Values are created only when they are read: a page has up to a hundred records. The getters belong to one class of the
 * noun. A getter in an object literal gives each object its own hidden class. V8 keeps that class, with everything that the
 * getter references, until the next full collection. D-48.
 */
function pagePresenter(model: NounModel) {
  /** No field has a name like those with `$`. */
  class ListedType {
    constructor(
      readonly $row: ListedRow,
      readonly $cursors: NounCursors,
    ) {}

    get id() {
      return this.$row.id;
    }

    get createdAt() {
      return new Date(Number(this.$row.createdAtMs));
    }

    /** Each record is its own edge. */
    get node() {
      return this;
    }

    get cursor() {
      return this.$cursors.of(this.$row);
    }
  }
  for (const { name, kind } of model.shown) {
    const read = reader(name);
    // The digits of an ID are its text.
    const convert = kind.scalar === 'ID' ? undefined : kind.toGraphQL;
    Object.defineProperty(ListedType.prototype, name, {
      get: convert ? converter(read, convert) : read,
    });
  }

  return ({ rows, hasNextPage, changesCursor }: NounPage, list: NounListRequest) => {
    const cursors = new NounCursors(model, list);
    const nodes = rows.map((row) => new ListedType(row, cursors));
    const pageInfo = new NodesPageInfo(nodes, list.after !== null, hasNextPage);
    return { nodes, edges: nodes, pageInfo, changesCursor };
  };
}

type Getter = (this: { $row: ListedRow }) => unknown;

/**
 * Each getter is its own code: V8 remembers shapes by code, and one closure for all fields costs a list 8 %. `modelOf` has
 * checked the name.
 */
function reader(name: string): Getter {
  return new Function(`return this.$row.${name};`) as Getter;
}

function converter(read: Getter, convert: (value: unknown) => unknown): Getter {
  return function get() {
    const value = read.call(this);
    return value === null ? null : convert(value);
  };
}

/** `{name: "Rex", status: sold}`, in GraphQL's form. */
function inputExamples({ fields }: NounModel): { create: string; change: string } {
  const literal = ({ kind, example }: ModelField) =>
    kind.choices || kind.scalar === 'Int' || /boolean|texts/.test(kind.json)
      ? example
      : JSON.stringify(example);
  const object = (wanted: readonly ModelField[]) =>
    `{${wanted.map((field) => `${field.name}: ${literal(field)}`).join(', ')}}`;
  const changed = fields.filter(({ options }) => options.immutable !== true);
  const one = changed.find(({ kind }) => kind.choices) ?? changed[0];
  return { create: object(fields), change: object(one ? [one] : []) };
}

type FieldType = typeof ID | typeof Int | typeof String | object;

/** A sentence about a field of an input, from its beginning. */
export function inputText(field: ModelField, text: string): string {
  const { options } = field;
  const unstated = options.default === undefined ? '' : `; ${textOf(options.default)} if it is not stated`;
  return `${withForm(text, formOf(field))}${unstated}.`;
}

/** The type of each field in GraphQL, by name. An enum's name begins with `owner`, and is registered once. */
export function fieldTypesOf(owner: string, fields: readonly ModelField[]): ReadonlyMap<string, FieldType> {
  return new Map(
    fields.map(({ name, kind, description: text }): [string, FieldType] => {
      if (!kind.choices) {
        const scalar = { String, ID, Int, Boolean, DateTime: DATE_TIME }[kind.scalar];
        return [name, kind.most === undefined ? scalar : [scalar]];
      }
      return [name, describedEnum(`${owner}${capitalized(name)}`, text, kind.choices)];
    }),
  );
}

/** The values of an input, in the form of the rules. */
export function parsed(
  fields: NounModel['fields'],
  input: Values,
  isStated: (value: unknown) => boolean,
): Values {
  const stated = fields.filter(({ name }) => input[name] !== undefined && isStated(input[name]));
  return Object.fromEntries(stated.map(({ name, kind }) => [name, kind.parse?.(input[name]) ?? input[name]]));
}

/** Declares a field of a type, an input or arguments, whose name is known only now. */
export function addField(
  Type: new () => object,
  name: string,
  type: FieldType,
  options: { description: string; nullable?: boolean; defaultValue?: unknown },
): void {
  Field(() => type as never, options)(Type.prototype, name);
}

/** `the digits of a 64-bit integer`, `1 to 255 characters`. */
function formOf({ kind }: ModelField): string {
  if (kind.name === 'text') return `1 to ${kind.column.length} characters`;
  return kind.form ?? '';
}

/** A description with its form: `Identifier of its category: the digits of a 64-bit integer.` */
const withForm = (text: string, form: string | undefined) => (form ? `${text}: ${form}` : text);
