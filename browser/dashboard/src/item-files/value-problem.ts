import type { NounField } from '../../../nouns.js';
import { valueIn } from '../items/item.js';

const LIMITS = {
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  integer: [-(2n ** 31n), 2n ** 31n - 1n],
} as const;
const INTEGER = /^-?\d{1,19}$/;
const DECIMAL = /^-?\d+(\.\d+)?$/;
const DATE = /^\d{4}-\d\d-\d\d$/;

/** Why the gateway would refuse the value of a column, as in its own messages; null = it may be good. */
export function valueProblemOf(field: NounField, text: string): string | null {
  if (text === '' && !field.isRequired) return null;
  const rule = ruleOf(field);
  return rule.allows(text) ? null : `${field.name} must be ${rule.words}`;
}

interface Rule {
  allows: (text: string) => boolean;
  /** After `must be`. */
  words: string;
}

function ruleOf({ kind, json, scalar, maxLength = 255, choices = [], example }: NounField): Rule {
  if (kind === 'text') {
    return {
      allows: (text) => isText(text, maxLength),
      words: `text of 1 to ${maxLength} characters, not only blanks`,
    };
  }
  if (kind === 'choice') {
    return { allows: (text) => choices.includes(text), words: `one of ${choices.join(', ')}` };
  }
  if (kind === 'decimal')
    return { allows: (text) => DECIMAL.test(text), words: `a decimal number such as ${example}` };
  if (scalar === 'DateTime')
    return { allows: (text) => !Number.isNaN(Date.parse(text)), words: `a time such as ${example}` };
  if (kind === 'date') return { allows: isDate, words: `a date such as ${example}` };
  if (json === 'boolean') return { allows: (text) => choices.includes(text), words: 'true or false' };
  const limits = LIMITS[kind as keyof typeof LIMITS];
  if (json === 'texts')
    return { allows: (text) => Array.isArray(valueIn(text)), words: `a list such as ${example}` };
  // The gateway alone knows the rule of another kind.
  if (!limits) return { allows: (text) => text !== '', words: `a value such as ${example}` };
  const [least, most] = limits;
  return {
    allows: (text) => INTEGER.test(text) && BigInt(text) >= least && BigInt(text) <= most,
    words: `an integer from ${least} to ${most}`,
  };
}

function isText(text: string, maxLength: number): boolean {
  const { length } = [...text];
  return length >= 1 && length <= maxLength && text.trim() !== '' && !/[\0\p{Surrogate}]/u.test(text);
}

/** `2026-02-30` is no date: it would be read as one in March. */
function isDate(text: string): boolean {
  const timeMs = DATE.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString().startsWith(text);
}
