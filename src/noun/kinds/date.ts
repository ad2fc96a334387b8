import {
  boundsOf,
  type FieldOf,
  type FieldOptions,
  filterOf,
  type Only,
  type OwnOptions,
  rangeOf,
} from './kind.js';
import { BY_TEXT } from './order.js';

interface DateOptions extends FieldOptions<string> {
  /** `true`: lists of one day; `range`: lists of the days between two. */
  readonly filter?: true | 'range';
  /** The first day and the last one. */
  readonly min?: string;
  readonly max?: string;
}

const CHARACTERS = 10;
const EXAMPLE = '2026-11-24';

const OWN: OwnOptions<DateOptions> = { filter: true, min: true, max: true };

/** A day of the calendar as text, such as `2026-11-24`. */
export function date<const Options extends DateOptions>(
  options = {} as Only<Options, DateOptions>,
): FieldOf<string, Options> {
  const { filter, min, max } = options as DateOptions;
  const usual = max !== undefined && EXAMPLE > max ? max : EXAMPLE;
  const { example = min ?? usual } = options as DateOptions;
  return {
    kind: {
      name: 'date',
      own: OWN,
      column: { type: 'varchar', length: CHARACTERS },
      indexBytes: 4 * CHARACTERS,
      schema: {
        type: 'string',
        format: 'date',
        ...boundsOf(min, max),
        rule: `must be a date such as ${example}${rangeOf(min, max)}`,
      },
      scalar: 'String',
      form: `a day such as \`${example}\``,
      json: 'text',
      isDigits: false,
      order: {
        ...BY_TEXT,
        bound: { type: 'string', format: 'date', rule: `must be a date such as ${example}` },
      },
    },
    options,
    filter: filterOf(filter, 'whole', 'range'),
    example,
  };
}
