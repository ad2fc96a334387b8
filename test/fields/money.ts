import { plainDecimal } from '../../src/ground/kernel/decimals.js';
import type { FieldOf, FieldOptions } from '../../src/noun/kinds/kind.js';

interface MoneyOptions extends FieldOptions<string> {
  readonly currencies: readonly [string, ...string[]];
  /** Lists of one amount. */
  readonly filter?: true;
}

const PLACES = 2;
const DIGITS = 16;

/** An amount with its currency, such as `12.50 EUR`: a kind that an author could write. */
export function money<const Options extends MoneyOptions>(options: Options): FieldOf<string, Options> {
  const { currencies, filter, example = `12.50 ${currencies[0]}` } = options as MoneyOptions;
  const length = DIGITS + '-. EUR'.length;
  const inOneForm = (value: unknown) => {
    const [amount = '', currency] = String(value).split(' ');
    return `${plainDecimal(amount, PLACES)} ${currency}`;
  };
  return {
    kind: {
      name: 'money',
      own: { currencies: true, filter: true },
      column: { type: 'varchar', length },
      indexBytes: 4 * length,
      schema: {
        type: 'string',
        pattern: `^-?\\d{1,${DIGITS - PLACES}}(\\.\\d{1,${PLACES}})? (${currencies.join('|')})$`,
        rule: `must be an amount and a currency such as "${example}", of ${currencies.join(' or ')}`,
      },
      scalar: 'String',
      form: `an amount and a currency such as \`${example}\``,
      json: 'text',
      isDigits: false,
      normal: inOneForm,
    },
    options,
    filter: filter ? 'whole' : null,
    example,
  };
}
