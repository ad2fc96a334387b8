import type { NounField } from '../../nouns.js';
import type { FieldOf, FieldOptions, Only, OwnOptions } from './kind.js';

interface ChoiceOptions<Value extends string> extends Omit<FieldOptions<Value>, 'sort'> {
  /** Lists of one value. */
  readonly filter?: true;
  /** The colours of the values in the dashboard, in their order. */
  readonly tones?: NounField['tones'];
}

/** The room of the longest value in its column. */
const CHARACTERS = 16;
const NAME = /^[a-z][a-zA-Z0-9_]{0,15}$/;

const OWN: OwnOptions<ChoiceOptions<string>> = { filter: true, tones: true, sort: false };

/**
 * A value of a fixed list, an enum in GraphQL. `texts` describes each. Throws an `Error` for a value that is no name of at most
 * 16 characters.
 */
export function choice<Value extends string, const Options extends ChoiceOptions<NoInfer<Value>>>(
  texts: Readonly<Record<Value, string>>,
  options: Only<Options, ChoiceOptions<Value>>,
): FieldOf<Value, Options> {
  const values = Object.keys(texts);
  const wrong = values.find((value) => !NAME.test(value) || /^(true|false|null)$/.test(value));
  if (wrong !== undefined || values.length === 0) {
    throw new Error(
      `A choice needs values such as draft, of at most ${CHARACTERS} letters, not "${wrong ?? ''}".`,
    );
  }
  const { filter, tones, example = values[0] as string } = options as ChoiceOptions<string>;
  return {
    kind: {
      name: 'choice',
      own: OWN,
      column: { type: 'varchar', length: CHARACTERS },
      indexBytes: 4 * CHARACTERS,
      schema: { type: 'string', enum: values, rule: `must be one of ${values.join(', ')}` },
      scalar: 'String',
      json: 'text',
      isDigits: false,
      choices: texts,
      tones,
    },
    options,
    filter: filter ? 'whole' : null,
    example,
  };
}
