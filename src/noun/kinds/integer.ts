import { INT32_MAX } from '../../ground/kernel/int64.js';
import { type FieldOf, type FieldOptions, filterOf, type Only, type OwnOptions } from './kind.js';
import { BY_INTEGER } from './order.js';

const INT32_MIN = -INT32_MAX - 1;

interface IntegerOptions extends FieldOptions<number> {
  readonly min?: number;
  readonly max?: number;
  /** `true`: lists of one value; `range`: lists of the values between two. */
  readonly filter?: true | 'range';
}

const OWN: OwnOptions<IntegerOptions> = { min: true, max: true, filter: true };

/** A whole number of 32 bits, as `Int` of GraphQL. Throws an `Error` for a bound outside of them. */
export function integer<const Options extends IntegerOptions>(
  options = {} as Only<Options, IntegerOptions>,
): FieldOf<number, Options> {
  const { min = INT32_MIN, max = INT32_MAX, filter, example = Math.max(min, 1) } = options as IntegerOptions;
  for (const bound of [min, max]) {
    if (!Number.isInteger(bound) || bound < INT32_MIN || bound > INT32_MAX) {
      throw new Error(`A bound of an integer has 32 bits, not ${bound}: int64 is larger.`);
    }
  }
  return {
    kind: {
      name: 'integer',
      own: OWN,
      column: { type: 'integer' },
      indexBytes: 4,
      schema: {
        type: 'integer',
        minimum: min,
        maximum: max,
        rule: `must be a whole number from ${min} to ${max}`,
      },
      scalar: 'Int',
      json: 'integer',
      isDigits: true,
      order: {
        ...BY_INTEGER,
        bound: {
          type: 'integer',
          minimum: INT32_MIN,
          maximum: INT32_MAX,
          rule: `must be a whole number from ${INT32_MIN} to ${INT32_MAX}`,
        },
      },
      parse: (value) =>
        typeof value === 'string' && /^(0|-?[1-9]\d{0,9})$/.test(value) ? Number(value) : value,
      toGraphQL: Number,
      toJson: Number,
    },
    options,
    filter: filterOf(filter, 'whole', 'range'),
    example: String(example),
  };
}
