import { type FieldProblem, invalidField, invalidRequest, refuseProblems } from './errors.js';
import { got } from './got.js';
import { INT32_MAX } from './int64.js';
import { isJsonObject } from './json.js';
import { INT64_KEYWORDS, type ObjectSchema, validator } from './validation.js';

type Values = Record<string, unknown>;
type Property = ObjectSchema['properties'][string];

interface RulesBeside<New> {
  /** The problems of a record whose fields are valid. */
  readonly check?: ((record: New) => FieldProblem[]) | null;
  /** No change states these fields. */
  readonly immutable?: readonly string[];
  /** By field: the one form of a valid value. */
  readonly normal?: Readonly<Record<string, (value: unknown) => unknown>>;
}

/**
 * The rules of a noun's values, for both doors and its files, from one schema. Fields beside those of the schema are ignored.
 * The fields that are not required have their default, otherwise null, when they are not stated; 64-bit integers become
 * bigint. A 64-bit integer has no minimum, because SPEC states none for a category, and legacy clients use 0 or -1.
 */
export class RecordRules<New extends object> {
  private readonly check: NonNullable<RulesBeside<New>['check']> | null;
  private readonly immutable: readonly string[];
  private readonly normal: NonNullable<RulesBeside<New>['normal']>;
  private readonly names: readonly string[];
  private readonly int64: ReadonlySet<string>;
  /** The fields of 32-bit integers. */
  private readonly small: readonly string[];
  private readonly problemsOfNew: (value: unknown) => FieldProblem[];
  private readonly problemsOfChanges: (value: unknown) => FieldProblem[];

  /** Throws an `Error` for a keyword that is not enforced. */
  constructor(
    private readonly schema: ObjectSchema,
    { check = null, immutable = [], normal = {} }: RulesBeside<New> = {},
  ) {
    this.check = check;
    this.immutable = immutable;
    this.normal = normal;
    requireEnforced(schema);
    this.names = Object.keys(schema.properties);
    const integers = this.names.filter((name) => schema.properties[name]?.type === 'integer');
    this.int64 = new Set(integers.filter((name) => schema.properties[name]?.format === 'int64'));
    this.small = integers.filter((name) => !this.int64.has(name));
    const small = this.small.map((name) => [name, within32Bits(schema.properties[name] as Property)]);
    const checked = { ...schema, properties: { ...schema.properties, ...Object.fromEntries(small) } };
    this.problemsOfNew = validator(checked);
    this.problemsOfChanges = validator({ ...checked, required: [] });
  }

  /** A new record from an untrusted value. Throws `AppError invalid_request`. */
  parse(input: unknown): New {
    const [record] = this.parseEach([input], (field) => field);
    return record as New;
  }

  /** As `parse`, for several records. The problems name the position too, such as `inputs.17.title`. */
  parseAll(inputs: readonly unknown[]): New[] {
    return this.parseEach(inputs, (field, at) => `inputs.${at}.${field}`);
  }

  /**
   * As `parse`, but each field is optional and at least one is required; null removes a field that is not required. `whole`
   * is the client's name of the input. Throws `AppError invalid_request`.
   */
  parseChanges(changes: unknown, whole = 'input'): Partial<New> {
    const input = this.withSmallIntegers(changes);
    if (!isJsonObject(input)) throw invalidField(whole, got('must be a JSON object', changes));
    const given = this.names.filter((name) => input[name] !== undefined);
    const removed = given.filter((name) => input[name] === null && this.isRemovable(name));
    const stated = given.filter((name) => !removed.includes(name));
    refuseProblems([
      ...given.filter((name) => this.immutable.includes(name)).map((field) => ({ field, message: FIXED })),
      ...this.problemsOfChanges(Object.fromEntries(stated.map((name) => [name, input[name]]))),
    ]);
    if (given.length === 0) throw invalidField(whole, 'must have at least one field to change');
    return Object.fromEntries(given.map((name) => [name, this.valueOf(name, input[name])])) as Partial<New>;
  }

  /** A record may lack the field. A field with a default always has a value. */
  private isRemovable(name: string): boolean {
    return !this.schema.required?.includes(name) && this.schema.properties[name]?.default === undefined;
  }

  private parseEach(inputs: readonly unknown[], nameOf: (field: string, at: number) => string): New[] {
    const readable = inputs.map((input) => this.withSmallIntegers(input));
    const problems = readable.flatMap((input, at) =>
      this.problemsOfNew(input).map(({ field, message }) => ({ field: nameOf(field, at), message })),
    );
    if (problems.length > 0) throw invalidRequest(problems);
    const records = (readable as Values[]).map(
      (input) =>
        Object.fromEntries(
          this.names.map((name) => [
            name,
            this.valueOf(name, input[name] ?? this.schema.properties[name]?.default),
          ]),
        ) as New,
    );
    const { check } = this;
    if (check) {
      const contradictions = records.flatMap((record, at) =>
        check(record).map(({ field, message }) => ({ field: nameOf(field, at), message })),
      );
      refuseProblems(contradictions);
    }
    return records;
  }

  private valueOf(name: string, value: unknown): unknown {
    if (value === undefined || value === null) return null;
    if (this.int64.has(name)) return BigInt(value as bigint | number);
    return this.normal[name]?.(value) ?? value;
  }

  /** Files have each integer as a bigint. A small one becomes a number, and the schema refuses one that is too large. */
  private withSmallIntegers(input: unknown): unknown {
    if (typeof input !== 'object' || input === null) return input;
    const given = input as Values;
    const small = this.small.filter((name) => typeof given[name] === 'bigint');
    if (small.length === 0) return input;
    return { ...given, ...Object.fromEntries(small.map((name) => [name, Number(given[name])])) };
  }
}

/** The problem of a change that states an immutable field. */
const FIXED = "can't be changed: leave it out";

/** `Int` of GraphQL and the columns have 32 bits. */
function within32Bits(property: Property): Property {
  const { minimum = -INT32_MAX - 1, maximum = INT32_MAX } = property;
  return {
    ...property,
    minimum: Math.max(Number(minimum), -INT32_MAX - 1),
    maximum: Math.min(Number(maximum), INT32_MAX),
  };
}

/** Keywords that say nothing about values. */
const WORDS = ['title', 'description', 'examples', 'deprecated', 'writeOnly', 'rule'];
const FORMATS: Readonly<Record<string, readonly unknown[]>> = {
  string: ['date', 'date-time', 'decimal'],
  integer: ['int64'],
};
/** The keywords that both APIs and files enforce, by the type of the field. */
const ENFORCED: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern', 'const', 'enum', 'default', 'x-minimum', 'x-maximum'],
  integer: [...Object.keys(INT64_KEYWORDS), 'default'],
  boolean: ['default'],
  array: ['items', 'maxItems', 'uniqueItems', 'default'],
};

/** The contract shows every keyword, so none may be there that nobody enforces, such as `readOnly`. D-252. */
function requireEnforced({ type: _, required: __, properties, ...others }: ObjectSchema): void {
  const [other] = Object.keys(others).filter((keyword) => !WORDS.includes(keyword));
  if (other) throw new Error(`The rules of a noun have the keyword ${other}, which is not enforced.`);
  for (const [field, { type, format, ...keywords }] of Object.entries(properties)) {
    const refuse = (keyword: string, known: readonly unknown[]): never => {
      const allowed = new Intl.ListFormat('en').format(known.map(String));
      throw new Error(
        `The rule of ${field} has a ${keyword} that is not enforced. Possible here: ${allowed}.`,
      );
    };
    const enforced = ENFORCED[String(type)] ?? refuse(`type ${type}`, Object.keys(ENFORCED));
    const formats = FORMATS[String(type)] ?? [];
    if (format !== undefined && !formats.includes(format)) refuse(`format ${format}`, formats);
    for (const [keyword, stated] of Object.entries(keywords)) {
      if (WORDS.includes(keyword)) continue;
      if (!enforced.includes(keyword)) refuse(`keyword ${keyword}`, enforced);
      // The contract would show another number.
      if (type === 'integer' && ![stated].flat().every(Number.isSafeInteger)) {
        refuse(`${keyword} ${stated}`, ['integers from -(2^53 - 1) to 2^53 - 1']);
      }
    }
  }
}
