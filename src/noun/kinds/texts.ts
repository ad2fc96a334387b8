import { listIn } from '../../ground/kernel/json.js';
import { type FieldOf, type FieldOptions, filterOf, type Only, type OwnOptions } from './kind.js';
import { text } from './text.js';

interface TextsOptions extends Omit<FieldOptions<readonly string[]>, 'unique' | 'sort'> {
  /** How many texts. */
  readonly most: number;
  /** Of each text, in characters. */
  readonly max: number;
  /** Lists of the records whose list has one text. */
  readonly filter?: 'has';
}

/** A character as JSON, at most: `\u0001`. */
const ESCAPED_CHARACTERS = 6;
const MOST_CHARACTERS = 15_000;

const OWN: OwnOptions<TextsOptions> = { most: true, max: true, filter: true, unique: false, sort: false };

/**
 * A list of texts in their order, each not only blanks; no text is there twice. A record without any has an empty list, or
 * none if it is optional. Throws an `Error` for bounds that no column has room for.
 */
export function texts<const Options extends TextsOptions>(
  options: Only<Options, TextsOptions>,
): FieldOf<readonly string[], Options> {
  const { most, max, filter, example = ['Example'.slice(0, max)] } = options as TextsOptions;
  const room = 2 + most * (max * ESCAPED_CHARACTERS + 3);
  if (![most, max].every((bound) => Number.isSafeInteger(bound) && bound >= 1) || room > MOST_CHARACTERS) {
    throw new Error(
      `most and max of texts are whole numbers from 1, and most × max is about ${MOST_CHARACTERS / ESCAPED_CHARACTERS} at most, not ${most} × ${max}.`,
    );
  }
  return {
    kind: {
      name: 'texts',
      own: OWN,
      column: {
        type: 'varchar',
        length: room,
        transformer: { to: (value) => value && JSON.stringify(value), from: listIn },
      },
      indexBytes: 4 * room,
      schema: {
        type: 'array',
        items: { type: 'string', minLength: 1, maxLength: max, pattern: '\\S' },
        maxItems: most,
        uniqueItems: true,
        rule: `must be a list of at most ${most} different texts of 1 to ${max} characters, not only blanks`,
      },
      scalar: 'String',
      most,
      each: text({ max }).kind,
      json: 'texts',
      isDigits: false,
      toSql: (value) => JSON.stringify(value),
      toGraphQL: listIn,
      toJson: listIn,
    },
    options,
    filter: filterOf(filter, 'has'),
    example: JSON.stringify(example),
  };
}
