import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';

type Members = Readonly<Record<string, unknown>>;

/** The actual value has at least the members of the expected one, at any depth. Lists have the same length. */
export function assertIncludes(actual: unknown, expected: unknown): void {
  assert.deepEqual(alike(actual, expected), expected);
}

/** A list or a text contains the expected part. */
export function assertContains(actual: readonly unknown[] | string | null, part: unknown): void {
  const contains =
    typeof actual === 'string' ? actual.includes(String(part)) : actual?.some(isEqualTo(part)) === true;
  assert.ok(contains, `${JSON.stringify(actual)} has no ${JSON.stringify(part)}`);
}

const isEqualTo = (part: unknown) => (each: unknown) => isDeepStrictEqual(each, part);

/** The actual value with only the members that the expected one has. */
function alike(actual: unknown, expected: unknown): unknown {
  if (Array.isArray(actual) && Array.isArray(expected))
    return actual.map((each, at) => alike(each, expected[at]));
  if (!isObject(actual) || !isObject(expected)) return actual;
  const shared = Object.keys(expected).filter((name) => name in actual);
  return Object.fromEntries(shared.map((name) => [name, alike(actual[name], expected[name])]));
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null;
}
