import { capitalized, type NounField, valueInWords } from '../../../nouns.js';
import { Field } from '../elements/field.js';

interface Props {
  field: NounField;
  text: string;
  problem: string | null;
  onChange: (text: string) => void;
}

const INTEGERS = { int64: /^-?\d{1,19}$/, integer: /^-?\d{1,10}$/ };

/** The control of a field of an item. */
export function ItemField({ field, text, problem, onChange }: Props) {
  const { kind, label, isRequired, maxLength, choices = [], hint } = field;
  const isInteger = kind === 'int64' || kind === 'integer';
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(described) =>
        kind === 'choice' ? (
          <select {...described} value={text} onChange={({ target }) => onChange(target.value)}>
            {!isRequired && <option value="">Not set</option>}
            {choices.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        ) : (
          <input
            {...described}
            value={text}
            type={kind === 'date' ? 'date' : undefined}
            maxLength={maxLength}
            inputMode={isInteger ? 'numeric' : undefined}
            autoComplete="off"
            onChange={({ target }) => onChange(target.value)}
          />
        )
      }
    </Field>
  );
}

/** The text of a field in the form of a new item. */
export function firstTextOf({ choices }: NounField): string {
  return choices?.[0] ?? '';
}

/** The problem that the form itself sees with a text; null = none. */
export function problemOf(field: NounField, text: string): string | null {
  const { kind, isRequired, example } = field;
  const given = text.trim();
  if (given === '' && !isRequired) return null;
  if (kind === 'int64' || kind === 'integer') {
    return INTEGERS[kind].test(given)
      ? null
      : `${capitalized(valueInWords(field))} is an integer, such as ${example}.`;
  }
  return given === '' ? `Enter ${valueInWords(field)}.` : null;
}
