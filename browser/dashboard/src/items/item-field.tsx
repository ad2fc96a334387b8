import { capitalized, type NounField, valueInWords } from '../../../nouns.js';
import { Field } from '../elements/field.js';

interface Props {
  field: NounField;
  text: string;
  isReadOnly: boolean;
  problem: string | null;
  onChange: (text: string) => void;
}

const INTEGERS = { int64: /^-?\d{1,19}$/, integer: /^-?\d{1,10}$/ };

/** The control of a field of an item. */
export function ItemField({ field, text, isReadOnly, problem, onChange }: Props) {
  const { kind, label, maxLength, choices = [] } = field;
  const hint = isReadOnly ? 'It can’t be changed.' : field.hint;
  const isInteger = kind === 'int64' || kind === 'integer';
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(described) =>
        kind === 'choice' ? (
          <select
            {...described}
            value={text}
            disabled={isReadOnly}
            onChange={({ target }) => onChange(target.value)}
          >
            {!isSet(field) && <option value="">Not set</option>}
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
            readOnly={isReadOnly}
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
export function firstTextOf(field: NounField): string {
  return field.default ?? field.choices?.[0] ?? '';
}

/** The problem that the form itself sees with a text; null = none. */
export function problemOf(field: NounField, text: string): string | null {
  const { kind, example } = field;
  const given = text.trim();
  if (given === '' && !isSet(field)) return null;
  if (kind === 'int64' || kind === 'integer') {
    return INTEGERS[kind].test(given)
      ? null
      : `${capitalized(valueInWords(field))} is an integer, such as ${example}.`;
  }
  return given === '' ? `Enter ${valueInWords(field)}.` : null;
}

/** Whether each item has a value of it. */
function isSet(field: NounField): boolean {
  return field.isRequired || field.default !== undefined;
}
