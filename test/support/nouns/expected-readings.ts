/** A reading as an input of GraphQL. */
export interface Reading {
  meter: string | null;
  power: string | null;
  takenAt: string | null;
  day: string;
  pulses: string;
  level: number | null;
  state: 'fine' | 'high' | null;
}

export interface WantedReadings {
  field: keyof Reading;
  isDescending?: boolean;
  from?: string | number | null;
  before?: string | number | null;
  state?: Reading['state'];
}

const LAST = '\u{10ffff}';
const METERS = [
  null,
  'Rex',
  'rex',
  'Rex ',
  'R\u00e9x',
  'Re\u0301x',
  '🐈',
  '\ue000',
  '\uffff',
  LAST,
  'N',
  'N1',
  'ä:b',
  null,
];
const POWERS = [
  ...[
    null,
    '0',
    '-0.0000000001',
    '0.0000000001',
    '-12.5',
    '-12.4999999999',
    '12.5',
    '9.9',
    '10',
    '-9.9',
    '-10',
  ],
  ...[`${'9'.repeat(28)}.${'9'.repeat(10)}`, `-${'9'.repeat(28)}.${'9'.repeat(10)}`],
  // They differ beyond the precision of a floating-point number.
  ...[
    '1234567890123456789012345678.0000000001',
    '1234567890123456789012345678.0000000002',
    '1234567890123456789012345678',
  ],
];
const TIMES = [
  ...['0001-01-01T00:00:00.000Z', '1969-12-31T23:59:59.999Z', '1970-01-01T00:00:00.000Z', null],
  ...['2026-11-24T10:00:00.000Z', '2026-11-24T10:00:00.001Z', '9999-12-31T23:59:59.999Z'],
];
const DAYS = ['0001-01-01', '1969-12-31', '2026-01-31', '2026-02-01', '9999-12-31'];
const PULSES = [
  ...['-9223372036854775808', '-9007199254740993', '-10', '-9', '0', '9', '10'],
  ...['9007199254740992', '9007199254740993', '9223372036854775807'],
];
const LEVELS = [1, null, 9, 2, 2];
const STATES = ['fine', 'high', null, 'fine'] as const;

const pick = <Value>(values: readonly Value[], at: number) => values[at % values.length] as Value;

/** Each value of each field meets many of the others, and ties; a third has no value. */
export const READINGS: Reading[] = Array.from({ length: 60 }, (_, at) => ({
  meter: pick(METERS, at * 5),
  power: pick(POWERS, at * 7),
  takenAt: pick(TIMES, at * 3),
  day: pick(DAYS, at * 2),
  pulses: pick(PULSES, at * 3),
  level: pick(LEVELS, at),
  state: pick(STATES, at * 3),
}));

/** The expected ids, by the definition of the list: without a value first, ties by id. */
export function expectedIds(
  stored: readonly (Reading & { id: string })[],
  { field, isDescending = false, from = null, before = null, state = null }: WantedReadings,
): string[] {
  const key = (value: string | number | null) => keyOf(field, value);
  const isWithin = (value: string | number | null) =>
    (from === null && before === null) ||
    (value !== null &&
      (from === null || compare(key(value), key(from)) >= 0) &&
      (before === null || compare(key(value), key(before)) < 0));
  const found = stored
    .filter((reading) => (state === null || reading.state === state) && isWithin(reading[field]))
    .sort((a, b) => compare(key(a[field]), key(b[field])) || (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
  if (isDescending) found.reverse();
  return found.map(({ id }) => id);
}

type Key = bigint | Buffer | null;

/** By another way than the product: bytes of UTF-8, and decimals as integers. */
function keyOf(field: keyof Reading, value: string | number | null): Key {
  if (value === null) return null;
  if (field === 'takenAt') return BigInt(Date.parse(String(value)));
  if (field === 'pulses' || field === 'level') return BigInt(value);
  if (field !== 'power') return Buffer.from(String(value));
  const [, sign, whole = '', part = ''] = /^(-?)(\d*)\.?(\d*)$/.exec(String(value)) ?? [];
  return BigInt(`${sign}${whole}${part.padEnd(10, '0')}`);
}

function compare(a: Key, b: Key): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  if (a instanceof Buffer && b instanceof Buffer) return Buffer.compare(a, b);
  return a === b ? 0 : a < b ? -1 : 1;
}
