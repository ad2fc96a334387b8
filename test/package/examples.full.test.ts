import { afterEach, expect, test } from '@jest/globals';
import { OwnFolder } from '../support/package/own-folder.js';

const STRICT = ['--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022', '--types', ''];

let own: OwnFolder;
afterEach(() => own.remove());

/** Serves a copy of an example, which compiles and has at most so many lines. */
async function served(example: string, mostLines: number) {
  own = await OwnFolder.copyOf(`examples/${example}`);
  const text = (await own.files()).get('gateway.ts') ?? '';
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(mostLines);
  await own.run(process.execPath, 'node_modules/typescript/bin/tsc', '--noEmit', ...STRICT, 'gateway.ts');
  expect(JSON.parse(await own.petstore('migrate', '--write', '--json'))).toEqual({ written: [] });
  const { url, apiKey, stop } = await own.start();
  const ask = async (path: string, body?: object, method = body ? 'POST' : 'GET') => {
    const response = await fetch(url + path, {
      method,
      ...(body && { body: JSON.stringify(body) }),
      headers: { authorization: `Bearer ${apiKey}`, ...(body && { 'content-type': 'application/json' }) },
    });
    const answer = await response.text();
    return { status: response.status, body: answer === '' ? null : JSON.parse(answer) };
  };
  return { ask, stop };
}

test('Package-8: the example has two resources in few lines, compiles, and answers for both in both APIs', async () => {
  const { ask, stop } = await served('library', 70);
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
  expect(await stop()).toBe(0);
});

test('Package-15: a shipment with its warehouse and an action is one file of 60 lines, with all that both APIs have', async () => {
  const { ask, stop } = await served('shipping', 60);
  const [warehouse] = (await ask('/v1/warehouses')).body;
  const shipment = { trackingCode: 'PX1', weightKg: '1.5', dueAt: '2026-01-01T00:00:00Z' };
  expect((await ask('/v1/shipments', { ...shipment, warehouseId: 1 })).body.errors).toEqual([
    { field: 'warehouseId', message: 'there is no warehouse 1 in this project' },
  ]);
  const { id } = (await ask('/v1/shipments', { ...shipment, warehouseId: warehouse.id })).body;
  const path = `/v1/shipments/${id}`;
  const at = '2026-01-02T00:00:00.000Z';
  expect(await ask(`${path}/deliver`, { at })).toMatchObject({
    status: 200,
    body: { deliveredAt: at, isLate: true, weightKg: '1.500' },
  });
  expect(await ask(`${path}/deliver`, {})).toMatchObject({
    status: 409,
    body: { message: `It was delivered at ${at}.` },
  });
  expect((await ask(`/v1/warehouses/${warehouse.id}`, undefined, 'DELETE')).status).toBe(409);
  const query = `{ shipments(orderBy: DELIVERED_AT_DESC, first: 100) {
    nodes { trackingCode warehouse { name shipments(first: 20) { nodes { id } } } } } }`;
  const { shipments } = (await ask('/graphql', { query })).body.data;
  expect(shipments.nodes).toEqual([
    { trackingCode: 'PX1', warehouse: { name: 'North', shipments: { nodes: [{ id: String(id) }] } } },
    { trackingCode: 'PX4711', warehouse: null },
  ]);
  expect((await ask(`/v1/shipments?deliveredAtFrom=${at}`)).body).toMatchObject([{ id }]);
  expect((await ask('/v1/shipments?tags=gift&carrier=dhl')).body).toMatchObject([{ trackingCode: 'PX4711' }]);
  expect((await ask(path, undefined, 'DELETE')).status).toBe(204);
  expect(await ask(`${path}/restore`, undefined, 'POST')).toMatchObject({ status: 200, body: { id } });
  expect(await stop()).toBe(0);
});

test('Package-16: the suites of any noun run for a shipment, and leave out only what it does not have', async () => {
  own = await OwnFolder.copyOf('examples/shipping');
  const files = [...(await own.files()).keys()].filter((name) =>
    /^(gateway.*|migrations\/.*)\.ts$/.test(name),
  );
  const compiler = 'node_modules/typescript/bin/tsc';
  const options = [...STRICT, '--rewriteRelativeImportExtensions', '--rootDir', '.', '--outDir', 'built'];
  await own.run(process.execPath, compiler, ...options, ...files);
  const reporter = ['--test', '--test-reporter=tap'];
  const { stdout } = await own.run(process.execPath, ...reporter, 'built/gateway.test.js');
  const skipped = [...stdout.matchAll(/ok \d+ - ([A-Z]\w+-\d+): .*# SKIP/g)].map(([, id]) => id);
  expect(new Set(skipped)).toEqual(
    new Set([
      ...['Acting-9', 'Creation-2', 'Creation-6', 'Ids-6', 'Ordering-5'],
      ...['ShownFields-2', 'ShownFields-3', 'Uniqueness-3', 'Uniqueness-4'],
    ]),
  );
});
