import type { FieldOf, FieldOptions } from './kind.js';

const EXAMPLE = '2026-11-24T10:00:00.000Z';

/**
 * A moment, to the millisecond: RFC 3339 with any offset in requests, and in UTC everywhere else, such as
 * `2026-11-24T10:00:00.000Z`. The database has milliseconds since 1970, which no time zone shifts. D-5.
 */
export function dateTime<const Options extends FieldOptions<string>>(
  options: Options,
): FieldOf<string, Options> {
  const { example = EXAMPLE } = options as FieldOptions<string>;
  const isoOf = (value: unknown) => new Date(/^-?\d+$/.test(String(value)) ? Number(value) : String(value));
  const inUtc = (value: unknown) => isoOf(value).toISOString();
  return {
    kind: {
      name: 'dateTime',
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
        rule: `must be a time such as ${EXAMPLE}, from the year 1 to 9999, in milliseconds at most and without a leap second`,
      },
      scalar: 'DateTime',
      json: 'text',
      isDigits: true,
      normal: inUtc,
      toSql: (value) => Date.parse(String(value)),
      toGraphQL: isoOf,
      toJson: inUtc,
    },
    options,
    filter: null,
    example,
  };
}
