import { type FieldProblem, invalidRequest, refuseProblems } from './errors.js';
import { type ObjectSchema, validator } from './validation.js';

type Values = Record<string, unknown>;

/**
 * The rules of a noun's values, for both doors and its files, from one schema. Fields beside those of the schema are ignored.
 * The fields that are not required are null when they are not stated; 64-bit integers become bigint. D-20.
 */
export class RecordRules<New extends object> {
  private readonly names: readonly string[];
  private readonly int64: ReadonlySet<string>;
  /** The fields of 32-bit integers. */
  private readonly small: readonly string[];
  private readonly problemsOfNew: (value: unknown) => FieldProblem[];
  private readonly problemsOfChanges: (value: unknown) => FieldProblem[];

  constructor(private readonly schema: ObjectSchema) {
    this.names = Object.keys(schema.properties);
    const integers = this.names.filter((name) => schema.properties[name]?.type === 'integer');
    this.int64 = new Set(integers.filter((name) => schema.properties[name]?.format === 'int64'));
    this.small = integers.filter((name) => !this.int64.has(name));
    this.problemsOfNew = validator(schema);
    this.problemsOfChanges = validator({ ...schema, required: [] });
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
   * As `parse`, but each field is optional and at least one is required; null removes a field that is not required. Throws
   * `AppError invalid_request`.
   */
  parseChanges(input: Values): Partial<New> {
    const given = this.names.filter((name) => input[name] !== undefined);
    const removed = given.filter((name) => input[name] === null && !this.schema.required?.includes(name));
    const stated = given.filter((name) => !removed.includes(name));
    refuseProblems(this.problemsOfChanges(Object.fromEntries(stated.map((name) => [name, input[name]]))));
    if (given.length === 0)
      refuseProblems([{ field: 'input', message: 'must have at least one field to change' }]);
    return Object.fromEntries(given.map((name) => [name, this.valueOf(name, input[name])])) as Partial<New>;
  }

  private parseEach(inputs: readonly unknown[], nameOf: (field: string, at: number) => string): New[] {
    const readable = inputs.map((input) => this.withSmallIntegers(input));
    const problems = readable.flatMap((input, at) =>
      this.problemsOfNew(input).map(({ field, message }) => ({ field: nameOf(field, at), message })),
    );
    if (problems.length > 0) throw invalidRequest(problems);
    return (readable as Values[]).map(
      (input) => Object.fromEntries(this.names.map((name) => [name, this.valueOf(name, input[name])])) as New,
    );
  }

  private valueOf(name: string, value: unknown): unknown {
    if (value === undefined || value === null) return null;
    return this.int64.has(name) ? BigInt(value as bigint | number) : value;
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
