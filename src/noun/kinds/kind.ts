import type { ValueTransformer } from 'typeorm';
import type { NounField, NounReference } from '../../nouns.js';
import type { KindOrder } from './order.js';

/**
 * A kind of field: its column, its rule, its type in both APIs, and its form in files. Each kind is one file beside this
 * one. The function of a kind refuses options that the kind does not have.
 */
interface Kind {
  readonly name: NounField['kind'];
  readonly column: {
    readonly type: 'varchar' | 'bigint' | 'integer' | 'decimal';
    readonly length?: number;
    /** Of a decimal: all digits, and those behind the point. */
    readonly precision?: number;
    readonly scale?: number;
    /** Between a row and its column; absent = the usual one of the type. */
    readonly transformer?: ValueTransformer;
  };
  /** The most bytes of a value in an index of MySQL. */
  readonly indexBytes: number;
  /** The JSON Schema of a value, with its `rule` for messages. */
  readonly schema: Readonly<Record<string, unknown>> & { readonly rule: string };
  /** The options that it has beside those of every kind, and with false those of every kind that it lacks; absent = any. */
  readonly own?: Readonly<Record<string, boolean>>;
  /** The name of its scalar in GraphQL; a kind with `choices` is an enum. */
  readonly scalar: 'String' | 'ID' | 'Int' | 'Boolean' | 'DateTime';
  /** A list of at most so many of the scalar; absent = one. */
  readonly most?: number;
  /** The kind of one entry of a list. */
  readonly each?: Kind;
  /** Added to descriptions in GraphQL, such as `the digits of a 64-bit integer`. */
  readonly form?: string;
  /** Its form in JSON and in files. */
  readonly json: NounField['json'];
  /** A number in the database, which lists read as digits. */
  readonly isDigits: boolean;
  /** Texts by value. */
  readonly choices?: Readonly<Record<string, string>>;
  readonly tones?: NounField['tones'];
  /** Absent = no list is ordered by it. */
  readonly order?: KindOrder;
  /** Its value is the identifier of a record. */
  readonly reference?: Reference;
  /** The value of a GraphQL variable or of a query parameter, for the rules. Here and below: absent = as it is. */
  parse?(value: unknown): unknown;
  /** Converts a valid value into the form that rows have. */
  normal?(value: unknown): unknown;
  /** The value of a row, for statements that TypeORM does not map. */
  toSql?(value: unknown): string | number | bigint;
  /** The value of a row, or its text from a list. */
  toGraphQL?(stored: unknown): unknown;
  toJson?(stored: unknown): unknown;
}

/** The other record of a reference, as the definition states it. */
export interface Reference extends Pick<NounReference, 'noun' | 'mustExist' | 'onDelete'> {
  readonly as?: string | undefined;
  readonly list?: string | false | undefined;
}

/** Words that replace those which follow from a field's name and description. Each begins a sentence. */
interface FieldWords {
  /** In the input of a creation, such as `Its availability status`. */
  readonly input?: string;
  /** In REST, such as `The book's title.` */
  readonly rest?: string;
  /** After `for example` in a filter by the start of a text. */
  readonly start?: string;
}

/** The options of every kind of field. */
export interface FieldOptions<Value> {
  /** A record may lack it: null in GraphQL, left out in REST. */
  readonly optional?: boolean;
  /** The value of a new record that states none. */
  readonly default?: Value;
  /** No other record of the project has the value. With names of fields: none that has the same values of those. */
  readonly unique?: boolean | readonly string[];
  /** No change states it. */
  readonly immutable?: boolean;
  /** Both APIs take it and never answer with it. The export of the command line has it. */
  readonly writeOnly?: boolean;
  /**
   * The end of the scope that a key needs to read it: `costs` is `shipments:costs`. Without it the value is null in GraphQL,
   * and absent in REST.
   */
  readonly readScope?: string;
  /** Lists can be ordered by it, in both directions. */
  readonly sort?: boolean;
  /** For people, such as the head of a column; by default the name in words. */
  readonly label?: string;
  /** The value in messages, such as `an ISBN`; by default the label with `a`. */
  readonly article?: string;
  /** A sentence for both APIs. */
  readonly description?: string;
  /** Beside the form of the dashboard. */
  readonly hint?: string;
  readonly example?: Value;
  readonly words?: FieldWords;
}

const OF_EVERY_KIND: Readonly<Record<keyof FieldOptions<unknown>, true>> = {
  optional: true,
  default: true,
  unique: true,
  immutable: true,
  writeOnly: true,
  readScope: true,
  sort: true,
  label: true,
  article: true,
  description: true,
  hint: true,
  example: true,
  words: true,
};

/** For the compiler: all options of a kind that not every kind has, and with false all that it lacks. */
export type OwnOptions<Options> = Readonly<
  Record<Exclude<keyof Options, keyof FieldOptions<unknown>>, true> &
    Record<Exclude<keyof FieldOptions<unknown>, keyof Options>, false>
>;

/** For the compiler: options of which the kind knows each. */
export type Only<Options, Known> = Options & {
  readonly [Name in Exclude<keyof Options, keyof Known>]: never;
};

/** For authors without TypeScript: the first option that the kind does not have, and those that it has; null = it has all. */
export function unknownOption({ kind, options }: Field): { stated: string; known: string[] } | null {
  if (!kind.own) return null;
  const all = Object.entries({ ...kind.own, ...OF_EVERY_KIND, ...kind.own });
  const known = all.flatMap(([name, has]) => (has ? name : []));
  const stated = Object.keys(options).find((option) => !known.includes(option));
  return stated === undefined ? null : { stated, known };
}

/** The lists of one value, of the texts that start alike, of the values between two bounds, or of what has an entry. */
export type FilterMatch = 'whole' | 'start' | 'range' | 'has';

/** The filter that a definition states, if the kind has it: `modelOf` refuses any other. `true` is `whole`. */
export function filterOf(
  stated: true | FilterMatch | undefined,
  ...known: readonly FilterMatch[]
): FilterMatch | null {
  return known.find((each) => each === (stated === true ? 'whole' : stated)) ?? null;
}

/** A field of a definition. `Value` and `New` exist for the compiler: the values of a record and of a new one. */
export interface Field<Value = unknown, New = unknown> {
  readonly kind: Kind;
  readonly options: FieldOptions<unknown>;
  readonly filter: FilterMatch | null;
  readonly example: string;
  readonly types?: { readonly value: Value; readonly input: New };
}

/** A field with everything that follows from its definition. */
export interface ModelField extends Field {
  readonly name: string;
  readonly column: string;
  readonly label: string;
  /** A sentence. */
  readonly description: string;
  /** A record always has a value. */
  readonly isSet: boolean;
  /** A new record states it. */
  readonly isRequired: boolean;
}

export type Fields = Readonly<Record<string, Field>>;
type ValueOf<F> = F extends Field<infer Value, unknown> ? Value : never;
/** The values of a record with these fields. */
export type ValuesOf<F extends Fields> = { -readonly [Name in keyof F]: ValueOf<F[Name]> };

/** The values that the options allow. */
export type FieldOf<Value, Options> = Field<
  Options extends { optional: true } ? Value | null : Value,
  Options extends { optional: true } | { default: unknown } ? Value | null | undefined : Value
>;

/** The example or the default of a kind as JSON has it, from its text. */
export function jsonOf({ json, normal }: Pick<Kind, 'json' | 'normal'>, text: string): unknown {
  if (json === 'integer') return Number(text);
  if (json === 'boolean') return text === 'true';
  const value = json === 'texts' ? JSON.parse(text) : text;
  return normal?.(value) ?? value;
}

/** The text of a value in a definition. */
export function textOf(value: unknown): string {
  return Array.isArray(value) ? JSON.stringify(value) : String(value);
}

/** Bounds in JSON Schema, which has none for texts. */
export function boundsOf(min: string | undefined, max: string | undefined): object {
  return { ...(min !== undefined && { 'x-minimum': min }), ...(max !== undefined && { 'x-maximum': max }) };
}

/** Bounds in a rule, such as `, from 2000-01-01`. */
export function rangeOf(min: string | undefined, max: string | undefined): string {
  const [from, to] = [min === undefined ? '' : ` from ${min}`, max === undefined ? '' : ` to ${max}`];
  return from + to === '' ? '' : `,${from}${to}`;
}
