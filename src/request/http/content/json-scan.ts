import { invalidField } from '../../../ground/kernel/errors.js';

const MAX_VALUES = 5_000;
const MAX_DEPTH = 100;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPENING_BRACKET, CLOSING_BRACKET, OPENING_BRACE, CLOSING_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Called with a name and its value of the outermost object, as they stand in the text. */
type OnMember = (name: string, value: string) => void;

/**
 * Counts the values of a JSON text without parsing it: commas and opening brackets, so an empty list counts twice. Throws
 * `AppError invalid_request` that names the field for more than 5,000 values, or lists and objects that nest deeper than
 * 100. The text need not be JSON: a parser stops at the first error, so it makes no more values than were counted.
 */
export function scanJson(field: string, text: string, onMember?: OnMember): number {
  let values = 1;
  let depth = 0;
  let from = 0;
  let name: string | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) at = endOfString(text, at);
    else if (character === OPENING_BRACKET || character === OPENING_BRACE) {
      values += 1;
      depth += 1;
      if (depth > MAX_DEPTH)
        throw invalidField(field, `must not nest deeper than ${MAX_DEPTH} lists and objects`);
      if (depth === 1) from = at + 1;
    } else if (character === COLON) {
      if (depth !== 1 || !onMember) continue;
      name = text.slice(from, at);
      from = at + 1;
    } else if (character === COMMA || character === CLOSING_BRACKET || character === CLOSING_BRACE) {
      if (depth === 1) {
        if (name !== null) onMember?.(name, text.slice(from, at));
        name = null;
        from = at + 1;
      }
      if (character === COMMA) values += 1;
      else depth -= 1;
    }
    if (values > MAX_VALUES) throw invalidField(field, `must not have more than ${MAX_VALUES} values`);
  }
  return values;
}

function endOfString(text: string, opening: number): number {
  let at = opening + 1;
  for (; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) break;
    if (character === BACKSLASH) at += 1;
  }
  return at;
}
