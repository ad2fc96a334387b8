import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseJson, toJson } from '../../client/json.js';
import { toysClient } from '../support/client/toys-client.js';
import { eventually } from '../support/eventually.js';
import { startApp, TEST_ACTOR, type Tenant, type TestApp } from '../support/start-app.js';

const INT64S = [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, -(2n ** 53n) - 1n, 0n, -1n];
/** After this time the change log of a project is open. */
const LOG_OPENS_AFTER_MS = 60_000;

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  await app.app.services.projects.change(TEST_ACTOR, tenant.slug, { isLogged: true });
  app.clock.now += LOG_OPENS_AFTER_MS;
});
afterAll(() => app.stop());

test('Client-5: each 64-bit integer arrives digit for digit, both ways, in records, lists and changes', async () => {
  const api = toysClient(app.url, tenant.token);
  const all = api.toys.all({ limit: 2 });
  await eventually('the change log is open', async () => {
    for await (const _ of all) expect(_).toBeDefined();
    return all.changesCursor;
  });
  const after = all.changesCursor ?? '';
  for (const categoryId of INT64S) {
    const made = await api.toys.create({ name: 'Rex', categoryId });
    expect(made).toEqual({ id: expect.any(BigInt), name: 'Rex', categoryId });
    expect(await api.toys.get(made.id)).toEqual(made);
  }
  const listed: bigint[] = [];
  for await (const toy of all) listed.push(toy.categoryId);
  expect(listed).toEqual(INT64S);
  const changes = api.toys.changes({ after, limit: 4 });
  const changed: bigint[] = [];
  for await (const { cursor, toy } of changes) {
    changed.push(toy.categoryId);
    expect(changes.cursor).toBe(cursor);
    if (changed.length === 3) break;
  }
  // A second program continues from the stored cursor.
  for await (const { toy } of api.toys.changes({ after: changes.cursor ?? '' })) {
    changed.push(toy.categoryId);
    if (changed.length === INT64S.length) break;
  }
  expect(changed).toEqual(INT64S);
});

test('Client-6: a number that has lost digits is refused before it is sent', async () => {
  const api = toysClient(app.url, tenant.token);
  // biome-ignore lint/correctness/noPrecisionLoss: the mistake that a program in JavaScript makes.
  const rounded = 9223372036854775807 as unknown as bigint;
  for (const call of [
    () => api.toys.create({ name: 'Rex', categoryId: rounded }),
    () => api.toys.get(rounded),
  ]) {
    await expect(call()).rejects.toThrow(
      new TypeError(
        '9223372036854776000 is not exact as a number: use a bigint, such as 9223372036854775807n.',
      ),
    );
  }
  const exact = 3 as unknown as bigint;
  expect(await api.toys.create({ name: 'Rex', categoryId: exact })).toMatchObject({ categoryId: 3n });
});

test('Client-7: every JSON text has the value that JSON.parse gives it, whatever its strings and keys look like', () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: 'binary' }), fc.boolean(), (text, isSpaced) => {
      const given = isSpaced ? JSON.stringify(JSON.parse(text), null, 2) : text;
      expect(JSON.stringify(parseJson(given, undefined, {}))).toBe(JSON.stringify(JSON.parse(given)));
      expect(toJson(JSON.parse(given), undefined, {})).toBe(JSON.stringify(JSON.parse(given)));
    }),
  );
  const shapes = { Item: { id: 'int64', of: 'Item', more: ['Item'] }, Named: { '*': 'int64' } } as const;
  const text =
    '{"id":-9223372036854775808,"n":"n1","s":"\\"n2","x":1e3,"of":{"id":null},"more":[{"id":7,"other":8}]}';
  expect(parseJson(text, 'Item', shapes)).toEqual({
    ...{ id: -9223372036854775808n, n: 'n1', s: '"n2', x: 1000, of: { id: null } },
    more: [{ id: 7n, other: 8 }],
  });
  const odd = parseJson('{"__proto__":9223372036854775807,"constructor":1}', 'Named', shapes);
  expect(Object.entries(odd as object)).toEqual([
    ['__proto__', 9223372036854775807n],
    ['constructor', 1n],
  ]);
  for (const wrong of [
    '',
    '{"id":01}',
    '{"id":1.5}',
    '{"id":"7"}',
    '{"id":7',
    '[7,]',
    'n7',
    '-',
    '{1:2}',
    '{"other":01}',
  ]) {
    expect(() => parseJson(wrong, 'Item', shapes)).toThrow(SyntaxError);
  }
});
