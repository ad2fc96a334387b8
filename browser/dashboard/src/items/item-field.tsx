import { capitalized, type NounField, valueInWords } from '../../../nouns.js';
import { Field } from '../elements/field.js';
import { ReferenceInput } from '../references/reference-input.js';
import { useSession } from '../session/signed-in.js';
import { choiceTextOf, choiceWord, isSet, linesOf, scopeOf, valueIn } from './item.js';

interface Props {
  field: NounField;
  text: string;
  /** The key cannot read its value, which stays unless another one is given. */
  isKept?: boolean;
  isReadOnly: boolean;
  problem: string | null;
  onChange: (text: string) => void;
}

const INTEGERS = { int64: /^-?\d{1,19}$/, integer: /^-?\d{1,10}$/ };

const KEPT = 'It is not shown. Leave it empty to keep it.';

/** The control of a field of an item. */
export function ItemField({ field, text, isKept = false, isReadOnly, problem, onChange }: Props) {
  const { kind, json, scalar, label, maxLength, choices = [] } = field;
  const hint = isReadOnly
    ? 'It can’t be changed.'
    : isKept
      ? KEPT
      : (field.hint ?? choiceTextOf(field, text));
  const isInteger = json === 'integer';
  const other = field.reference?.to;
  const { scopes } = useSession().apiKey;
  const isFound = other && !isReadOnly && scopes.includes(scopeOf(other, 'READ'));
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(described) =>
        field.choices ? (
          <select
            {...described}
            value={text}
            disabled={isReadOnly}
            onChange={({ target }) => onChange(target.value)}
          >
            {(!isSet(field) || isKept) && <option value="">Not set</option>}
            {choices.map((each) => (
              <option key={each} value={each}>
                {choiceWord(field, each)}
              </option>
            ))}
          </select>
        ) : json === 'texts' ? (
          <textarea
            {...described}
            value={text}
            rows={3}
            readOnly={isReadOnly}
            placeholder="One on each line"
            onChange={({ target }) => onChange(target.value)}
          />
        ) : scalar === 'DateTime' ? (
          <input
            {...described}
            value={localTimeOf(text)}
            type="datetime-local"
            step="0.001"
            readOnly={isReadOnly}
            max="9999-12-31T23:59:59.999"
            onChange={({ target }) => onChange(momentOf(target.value))}
          />
        ) : isFound ? (
          <ReferenceInput {...described} other={other} text={text} onChange={onChange} />
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
  if (field.json === 'texts') return linesOf(valueIn(field.default ?? '[]'));
  const isChosen = field.kind === 'choice' || isSet(field);
  return field.default ?? (isChosen ? field.choices?.[0] : undefined) ?? '';
}

/** The problem that the form itself sees with a text; null = none. */
export function problemOf(field: NounField, text: string): string | null {
  const { kind, json, example } = field;
  const given = text.trim();
  // An empty list is a value.
  if (given === '' && (!isSet(field) || json === 'texts')) return null;
  if (kind === 'int64' || kind === 'integer') {
    if (INTEGERS[kind].test(given)) return null;
    return field.reference
      ? `Choose a ${field.reference.noun}, or enter its id.`
      : `${capitalized(valueInWords(field))} is an integer, such as ${example}.`;
  }
  return given === '' ? `Enter ${valueInWords(field)}.` : null;
}

/** The moment as the control shows it, in the reader's time zone; an empty text stays empty. */
export function localTimeOf(iso: string): string {
  if (iso === '') return '';
  const at = new Date(iso);
  const part = (value: number, digits: number) => String(value).padStart(digits, '0');
  const day = [part(at.getFullYear(), 4), part(at.getMonth() + 1, 2), part(at.getDate(), 2)].join('-');
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map((value) => part(value, 2)).join(':');
  return `${day}T${time}.${part(at.getMilliseconds(), 3)}`;
}

/** The moment of the control's text; empty = it has none, such as of a year with five digits. */
export function momentOf(localTime: string): string {
  const at = new Date(localTime);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}
