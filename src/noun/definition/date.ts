import { boundsOf, type FieldOf, type FieldOptions, rangeOf } from './kind.js';

interface DateOptions extends FieldOptions<string> {
  /** Lists of one day. */
  readonly filter?: true;
  /** The first day and the last one. */
  readonly min?: string;
  readonly max?: string;
}

const CHARACTERS = 10;
const EXAMPLE = '2026-11-24';

/** A day of the calendar as text, such as `2026-11-24`. */
export function date<const Options extends DateOptions>(options: Options): FieldOf<string, Options> {
  const { filter, min, max } = options as DateOptions;
  const usual = max !== undefined && EXAMPLE > max ? max : EXAMPLE;
  const { example = min ?? usual } = options as DateOptions;
  return {
    kind: {
      name: 'date',
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
    },
    options,
    filter: filter ? 'whole' : null,
    example,
  };
}
