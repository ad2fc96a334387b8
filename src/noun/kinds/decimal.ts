import { compareDecimals, plainDecimal } from '../../ground/kernel/decimals.js';
import { type FieldOf, type FieldOptions, filterOf, type Only, type OwnOptions } from './kind.js';
import { byDecimal } from './order.js';

interface DecimalOptions extends FieldOptions<string> {
  /** In all, at most 38. */
  readonly digits: number;
  /** Behind the point. */
  readonly places: number;
  readonly min?: string;
  readonly max?: string;
  /** Lists of the numbers between two. */
  readonly filter?: 'range';
}

const MOST_DIGITS = 38;
const MOST_PLACES = 30;
const PLAIN = /^-?\d+(\.\d+)?$/;

const OWN: OwnOptions<DecimalOptions> = { digits: true, places: true, min: true, max: true, filter: true };

/**
 * An exact decimal number: text in both APIs, with all its places, such as `12.500`. DECIMAL on MySQL, a text that sorts as the
 * number on SQLite. Throws an `Error` for digits, places or bounds that it cannot have.
 */
export function decimal<const Options extends DecimalOptions>(
  options: Only<Options, DecimalOptions>,
): FieldOf<string, Options> {
  const { digits, places, min, max, filter } = options as DecimalOptions;
  const isWhole = [digits, places].every(Number.isSafeInteger);
  if (
    !isWhole ||
    digits < 1 ||
    digits > MOST_DIGITS ||
    places < 0 ||
    places > Math.min(digits, MOST_PLACES)
  ) {
    throw new Error(
      `A decimal has 1 to ${MOST_DIGITS} digits, at most ${MOST_PLACES} of them as places, not ${digits} and ${places}.`,
    );
  }
  const most = plainDecimal(`${'9'.repeat(digits - places)}.${'9'.repeat(places)}`, places);
  for (const bound of [min, max]) {
    if (
      bound !== undefined &&
      (typeof bound !== 'string' || !PLAIN.test(bound) || compareDecimals(bound.replace('-', ''), most) > 0)
    )
      throw new Error(`A bound of a decimal with ${digits} digits is text such as '${most}', not ${bound}.`);
  }
  const [least, greatest] = [min ?? `-${most}`, max ?? most];
  const allowsOne = compareDecimals(least, '1') <= 0 && compareDecimals('1', greatest) <= 0;
  const example = (options as DecimalOptions).example ?? plainDecimal(allowsOne ? '1' : greatest, places);
  const plain = (value: unknown) => plainDecimal(String(value), places);
  const point = places === 0 ? '' : `(\\.\\d{1,${places}})?`;
  const pattern = `^-?\\d{1,${Math.max(digits - places, 1)}}${point}$`;
  return {
    kind: {
      name: 'decimal',
      own: OWN,
      column: {
        type: 'decimal',
        precision: digits,
        scale: places,
        transformer: { to: (value) => value, from: (value) => (value === null ? null : plain(value)) },
      },
      // On SQLite it is longer, and there is no bound.
      indexBytes: Math.ceil(digits / 2) + 1,
      schema: {
        type: 'string',
        format: 'decimal',
        pattern,
        'x-minimum': least,
        'x-maximum': greatest,
        rule: `must be a decimal number such as "${example}", from ${least} to ${greatest}, with at most ${places} digits behind the point`,
      },
      scalar: 'String',
      form: `a decimal number such as \`${example}\``,
      json: 'text',
      isDigits: false,
      order: {
        ...byDecimal(places, new RegExp(pattern)),
        bound: {
          type: 'string',
          format: 'decimal',
          pattern,
          rule: `must be a decimal number such as "${example}", with at most ${places} digits behind the point`,
        },
      },
      normal: plain,
      toGraphQL: plain,
      toJson: plain,
    },
    options,
    filter: filterOf(filter, 'range'),
    example,
  };
}
