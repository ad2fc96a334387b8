import { parse, stringify } from 'lossless-json';
import { type Language, tokensOf } from '../../src/doors/web/shown/highlight.js';
import { budgetOf } from './budget.js';

/** The status of an answer, and what is left of the quota. */
export function summaryOf(answer: Response): string {
  const budget = budgetOf(answer.headers);
  const replay = answer.headers.has('idempotent-replayed')
    ? 'the stored answer to this Idempotency-Key'
    : null;
  const status = `${answer.status} ${answer.statusText}`.trim();
  return [status, replay, budget].filter((part) => part !== null).join(' · ');
}

/** The text as elements with the colors of its language. */
export function colored(text: string, language: Language): Node[] {
  return tokensOf(text, language).map(([kind, part]) => {
    if (kind === null) return new Text(part);
    const span = document.createElement('span');
    span.className = `t-${kind}`;
    span.textContent = part;
    return span;
  });
}

/** JSON with a line per value, in which integers keep every digit; any other text as it is. */
export function laidOut(text: string): string {
  try {
    return stringify(parse(text), null, 2) ?? text;
  } catch {
    return text;
  }
}
