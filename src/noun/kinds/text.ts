import { NAME } from '../../ground/kernel/validation.js';
import { type FieldOf, type FieldOptions, filterOf, type Only, type OwnOptions } from './kind.js';
import { BY_TEXT } from './order.js';

interface TextOptions extends FieldOptions<string> {
  /** In characters, at most 4,000. */
  readonly max?: number;
  /** The whole value matches it. Generators copy it into other languages, so it has no flag. */
  readonly pattern?: RegExp;
  /** The rule of the pattern, such as `must be an ISBN of ten or thirteen digits`. */
  readonly rule?: string;
  /** `whole`: lists of one value; `start`: lists of the texts that start so, ordered by them. */
  readonly filter?: 'whole' | 'start';
}

const MOST_CHARACTERS = 4_000;
/** Of a character in utf8mb4. */
const CHARACTER_BYTES = 4;

const OWN: OwnOptions<TextOptions> = { max: true, pattern: true, rule: true, filter: true };

/** A text, not only blanks unless it has a pattern. Throws an `Error` for options that contradict each other. */
export function text<const Options extends TextOptions>(
  options = {} as Only<Options, TextOptions>,
): FieldOf<string, Options> {
  const { max = NAME.maxLength, pattern, filter, example = 'Example' } = options as TextOptions;
  if (!Number.isSafeInteger(max) || max < 1 || max > MOST_CHARACTERS) {
    throw new Error(`max of a text is a whole number from 1 to ${MOST_CHARACTERS}, not ${max}.`);
  }
  if (pattern && pattern.flags.replace('u', '') !== '') {
    throw new Error(`The pattern ${pattern} has flags, which JSON Schema does not know.`);
  }
  if (pattern && !/^\^.*\$$/s.test(pattern.source)) {
    throw new Error(`The pattern ${pattern} matches a part of a text. Begin it with ^ and end it with $.`);
  }
  const length = { minLength: 1, maxLength: max };
  const rule = `must be text of 1 to ${max} characters`;
  const schema = pattern
    ? { ...length, pattern: pattern.source, rule: options.rule ?? `${rule} that matches ${pattern.source}` }
    : { ...length, pattern: NAME.pattern, rule: `${rule}, not only blanks` };
  return {
    kind: {
      name: 'text',
      own: OWN,
      column: { type: 'varchar', length: max },
      indexBytes: max * CHARACTER_BYTES,
      schema: { type: 'string', ...schema },
      scalar: 'String',
      json: 'text',
      isDigits: false,
      order: BY_TEXT,
    },
    options,
    filter: filterOf(filter, 'whole', 'start'),
    example,
  };
}
