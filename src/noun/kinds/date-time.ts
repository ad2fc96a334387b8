import {
  boundsOf,
  type FieldOf,
  type FieldOptions,
  filterOf,
  type Only,
  type OwnOptions,
  rangeOf,
} from './kind.js';
import { BY_INTEGER } from './order.js';

interface DateTimeOptions extends FieldOptions<string> {
  /** Lists of the moments between two. */
  readonly filter?: 'range';
  /** The first moment and the last one. */
  readonly min?: string;
  readonly max?: string;
}

const EXAMPLE = '2026-11-24T10:00:00.000Z';

const OWN: OwnOptions<DateTimeOptions> = { filter: true, min: true, max: true };

/**
 * A moment, to the millisecond: RFC 3339 with any offset in requests, and in UTC everywhere else, such as
 * `2026-11-24T10:00:00.000Z`. The database has milliseconds since 1970, which no time zone shifts.
 */
export function dateTime<const Options extends DateTimeOptions>(
  options = {} as Only<Options, DateTimeOptions>,
): FieldOf<string, Options> {
  const { min, max, filter } = options as DateTimeOptions;
  const isTooLate = max !== undefined && Date.parse(EXAMPLE) > Date.parse(max);
  const { example = min ?? (isTooLate ? max : EXAMPLE) } = options as DateTimeOptions;
  const momentOf = (value: unknown) =>
    new Date(/^-?\d+$/.test(String(value)) ? Number(value) : String(value));
  const ruleWith = (range: string) =>
    `must be a time such as ${EXAMPLE}${range}, in milliseconds at most and without a leap second`;
  const inUtc = (value: unknown) => momentOf(value).toISOString();
  return {
    kind: {
      name: 'dateTime',
      own: OWN,
      column: {
        type: 'bigint',
        transformer: {
          to: (value: unknown) => (value == null ? value : Date.parse(String(value))),
          from: (value: unknown) => (value === null ? null : inUtc(value)),
        },
      },
      indexBytes: 8,
      schema: {
        type: 'string',
        format: 'date-time',
        ...boundsOf(min, max),
        rule: ruleWith(rangeOf(min ?? 'the year 1', max ?? '9999')),
      },
      scalar: 'DateTime',
      json: 'text',
      isDigits: true,
      order: {
        ...BY_INTEGER,
        bound: { type: 'string', format: 'date-time', rule: ruleWith(rangeOf('the year 1', '9999')) },
      },
      // A time of GraphQL, with the client's text.
      parse: (value) => (value instanceof Date && 'sent' in value ? value.sent : value),
      normal: inUtc,
      toSql: (value) => Date.parse(String(value)),
      toGraphQL: momentOf,
      toJson: inUtc,
    },
    options,
    filter: filterOf(filter, 'range'),
    example,
  };
}
