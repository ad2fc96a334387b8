import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { OwnFolder } from '../support/package/own-folder.js';

const EXAMPLE = 'examples/library';
const MOST_LINES = 120;

let own: OwnFolder;
beforeAll(async () => {
  own = await OwnFolder.copyOf(EXAMPLE);
});
afterAll(() => own.remove());

test('Package-8: the example has two resources in few lines, compiles, and answers for both in both APIs', async () => {
  const sources = [...(await own.files())].filter(([name]) => name.endsWith('.ts'));
  expect(
    sources.map(([, text]) => text.trimEnd().split('\n').length).reduce((a, b) => a + b),
  ).toBeLessThanOrEqual(MOST_LINES);
  const strict = ['--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022', '--types', ''];
  await own.run(process.execPath, 'node_modules/typescript/bin/tsc', '--noEmit', ...strict, 'gateway.ts');
  const { url, apiKey, stop } = await own.start();
  const ask = async (path: string, body?: object): Promise<unknown> => {
    const response = await fetch(url + path, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    });
    return { status: response.status, body: await response.json() };
  };
  expect(await ask('/v1/members')).toMatchObject({ status: 200, body: [{ name: 'Ada Lovelace' }, {}] });
  expect(await ask('/v1/loans')).toMatchObject({ status: 200, body: [{ title: 'Moby Dick', renewals: 0 }] });
  const loan = { title: 'Emma', cardNumber: '10000002', lentOn: '2026-03-02' };
  expect(await ask('/v1/loans', { ...loan, returnedOn: '2026-03-01' })).toMatchObject({
    status: 400,
    body: { errors: [{ field: 'returnedOn', message: 'must not be before the day of the loan' }] },
  });
  expect(await ask('/v1/loans', loan)).toMatchObject({ status: 201 });
  const query =
    '{ members(nameStartsWith: "Ada") { nodes { cardNumber } } loans(cardNumber: "10000002") { nodes { title } } }';
  expect(await ask('/graphql', { query })).toEqual({
    status: 200,
    body: {
      data: { members: { nodes: [{ cardNumber: '10000001' }] }, loans: { nodes: [{ title: 'Emma' }] } },
    },
  });
  expect(JSON.parse(await own.petstore('migrate', '--write', '--json'))).toEqual({ written: [] });
  expect(await stop()).toBe(0);
});
