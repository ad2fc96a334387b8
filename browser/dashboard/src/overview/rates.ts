import type { SumsFragment } from '../graphql/generated.js';

const PERCENT = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
const WHOLE_PERCENT = new Intl.NumberFormat(undefined, { style: 'percent' });
const LEAST = 0.001;

export function requestsOf({ admitted, refused }: Pick<SumsFragment, 'admitted' | 'refused'>): number {
  return admitted + refused;
}

/** A share for people. It is never rounded to nothing: one error among a million is `< 0.1 %`. */
export function share(part: number, whole: number): string {
  if (whole === 0 || part === 0) return WHOLE_PERCENT.format(0);
  const of = part / whole;
  if (of < LEAST) return `< ${PERCENT.format(LEAST)}`;
  return (of < 0.1 ? PERCENT : WHOLE_PERCENT).format(of);
}
