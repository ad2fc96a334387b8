import type { FieldOf, FieldOptions, Only, OwnOptions } from './kind.js';

interface BooleanOptions extends Omit<FieldOptions<boolean>, 'unique' | 'sort'> {
  /** Lists of one value. */
  readonly filter?: true;
}

const OWN: OwnOptions<BooleanOptions> = { filter: true, unique: false, sort: false };

/** True or false. */
export function boolean<const Options extends BooleanOptions>(
  options = {} as Only<Options, BooleanOptions>,
): FieldOf<boolean, Options> {
  const { filter, example = true } = options as BooleanOptions;
  // A list has its digit.
  const isTrue = (stored: unknown) => stored === true || stored === '1';
  return {
    kind: {
      name: 'boolean',
      own: OWN,
      column: {
        type: 'integer',
        transformer: {
          // A record without a value has null.
          to: (value) => (typeof value === 'boolean' ? Number(value) : value),
          from: (value) => (value === null ? null : Number(value) === 1),
        },
      },
      indexBytes: 4,
      schema: { type: 'boolean', rule: 'must be true or false' },
      scalar: 'Boolean',
      json: 'boolean',
      isDigits: true,
      parse: (value) => (value === 'true' ? true : value === 'false' ? false : value),
      toSql: Number,
      toGraphQL: isTrue,
      toJson: isTrue,
    },
    options,
    filter: filter ? 'whole' : null,
    example: String(example),
  };
}
