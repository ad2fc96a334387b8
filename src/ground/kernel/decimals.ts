const INTEGER_DIGITS = 38;

/**
 * A text that sorts as its number: a sign, 38 digits before the point, and those behind it. SQLite has no exact decimal, and
 * keeps this one in any column. A negative number has the complement of each digit, and an end behind every digit.
 */
export function sortableDecimal(plain: string): string {
  const { sign, whole, part } = partsOf(plain);
  const text = `${whole.padStart(INTEGER_DIGITS, '0')}.${part}`;
  const isZero = whole === '' && part === '';
  return sign === '' || isZero ? `p${text}` : `n${complement(text)}~`;
}

/** The number with so many digits behind the point, from its plain or its sortable text. */
export function plainDecimal(text: string, places: number): string {
  const isNegative = text.startsWith('n');
  const plain = text.startsWith('p') ? text.slice(1) : isNegative ? complement(text.slice(1, -1)) : text;
  const { sign, whole, part } = partsOf(plain);
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

/** Of `[-]digits[.digits]`, without zeros at either end. A text of any length and form is read once. */
function partsOf(plain: string) {
  const sign = plain.startsWith('-') ? '-' : '';
  const [whole = '', part = ''] = plain.slice(sign.length).split('.', 2);
  let start = 0;
  while (whole[start] === '0') start += 1;
  let end = part.length;
  while (part[end - 1] === '0') end -= 1;
  return { sign, whole: whole.slice(start), part: part.slice(0, end) };
}
