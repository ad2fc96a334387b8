import { INT64_MAX, INT64_MIN, int64OrText } from '../../ground/kernel/int64.js';
import { type FieldOf, type FieldOptions, filterOf, type Only, type OwnOptions } from './kind.js';
import { BY_INTEGER } from './order.js';

interface Int64Options extends FieldOptions<bigint> {
  /** From -(2^53 - 1) to 2^53 - 1, as JSON Schema states it. */
  readonly min?: bigint;
  readonly max?: bigint;
  /** `true`: lists of one value; `range`: lists of the values between two. */
  readonly filter?: true | 'range';
}

const OWN: OwnOptions<Int64Options> = { min: true, max: true, filter: true };

/**
 * A 64-bit integer: bigint in code, an integer in REST, text of its digits in GraphQL. Throws an `Error` for a bound that
 * JSON Schema cannot state.
 */
export function int64<const Options extends Int64Options>(
  options = {} as Only<Options, Int64Options>,
): FieldOf<bigint, Options> {
  const { min, max, filter, example = 3n, default: byDefault } = options as Int64Options;
  for (const [name, bound] of Object.entries({ min, max, default: byDefault })) {
    if (bound !== undefined && !Number.isSafeInteger(Number(bound))) {
      throw new Error(`${name} of an int64 is from -(2^53 - 1) to 2^53 - 1, not ${bound}.`);
    }
  }
  return {
    kind: {
      name: 'int64',
      own: OWN,
      column: { type: 'bigint' },
      indexBytes: 8,
      schema: {
        type: 'integer',
        format: 'int64',
        ...(min === undefined ? {} : { minimum: Number(min) }),
        ...(max === undefined ? {} : { maximum: Number(max) }),
        rule: `must be an integer from ${min ?? INT64_MIN} to ${max ?? INT64_MAX}`,
      },
      scalar: 'ID',
      form: 'the digits of a 64-bit integer',
      json: 'integer',
      isDigits: true,
      order: {
        ...BY_INTEGER,
        bound: {
          type: 'integer',
          format: 'int64',
          rule: `must be an integer from ${INT64_MIN} to ${INT64_MAX}`,
        },
      },
      parse: int64OrText,
      toGraphQL: String,
      toJson: BigInt as (stored: unknown) => bigint,
    },
    options,
    filter: filterOf(filter, 'whole', 'range'),
    example: String(example),
  };
}
