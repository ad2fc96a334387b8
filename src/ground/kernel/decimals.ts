/** `[-]digits[.digits]`, without an exponent. */
const PLAIN = /^(-?)0*(\d*)(?:\.(\d*?)0*)?$/;
const INTEGER_DIGITS = 38;

/**
 * A text that sorts as its number: a sign, 38 digits before the point, and those behind it. SQLite has no exact decimal, and
 * keeps this one in any column. A negative number has the complement of each digit, and an end behind every digit.
 */
export function sortableDecimal(plain: string): string {
  const [, sign = '', whole = '', part = ''] = PLAIN.exec(plain) ?? [];
  const text = `${whole.padStart(INTEGER_DIGITS, '0')}.${part}`;
  const isZero = whole === '' && part === '';
  return sign === '' || isZero ? `p${text}` : `n${complement(text)}~`;
}

/** The number with so many digits behind the point, from its plain or its sortable text. */
export function plainDecimal(text: string, places: number): string {
  const isNegative = text.startsWith('n');
  const plain = text.startsWith('p') ? text.slice(1) : isNegative ? complement(text.slice(1, -1)) : text;
  const [, sign = '', whole = '', part = ''] = PLAIN.exec(plain) ?? [];
  const isZero = whole === '' && part === '';
  const number = `${whole || '0'}${places > 0 ? `.${part.padEnd(places, '0')}` : ''}`;
  return (sign !== '' || isNegative) && !isZero ? `-${number}` : number;
}

/** As a comparison of numbers: negative, 0 or positive. */
export function compareDecimals(one: string, other: string): number {
  const [a, b] = [sortableDecimal(one), sortableDecimal(other)];
  if (a === b) return 0;
  // `p` is behind `n`.
  return a < b ? -1 : 1;
}

const complement = (digits: string) => digits.replace(/\d/g, (digit) => String(9 - Number(digit)));
