/** The most characters of a value that a message repeats. */
const SHOWN_CHARACTERS = 40;
/** An API key that was sent by mistake must not reach a screen or a ticket. */
const TOKEN = /pk_\w+/g;
/** Characters that control a terminal, or change the direction of text. */
const CONTROL = /[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu;

/** A rule with the value that breaks it: `must be one of a, b (got "c")`. Not for values that are secret. */
export function got(rule: string, value: unknown): string {
  return `${rule} (got ${shown(value)})`;
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return JSON.stringify(shortened(value)).replace(CONTROL, escaped);
  if (Array.isArray(value)) return value.length === 1 ? 'a list of one' : `a list of ${value.length}`;
  return typeof value === 'object' && value !== null ? 'an object' : shortened(String(value));
}

function shortened(text: string): string {
  // Searched only where it may be shown.
  const start = text.slice(0, 2 * SHOWN_CHARACTERS).replace(TOKEN, 'pk_…');
  if (start.length <= SHOWN_CHARACTERS && text.length <= 2 * SHOWN_CHARACTERS) return start;
  // Half of a character at the end could not be encoded.
  return `${start.slice(0, SHOWN_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
