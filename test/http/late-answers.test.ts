import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AppError } from '../../src/ground/kernel/errors.js';
import { eventually } from '../support/eventually.js';
import { serviceOf } from '../support/nouns/services.js';
import { startApp, type Tenant, type TestApp } from '../support/start-app.js';

let app: TestApp;
let tenant: Tenant;
const lines: string[] = [];
beforeAll(async () => {
  app = await startApp({ onLog: (line) => lines.push(line) });
  tenant = await app.tenant();
});
afterAll(() => app?.stop());

/** The warnings and errors of the log since the last call. */
const warnings = () =>
  lines
    .splice(0)
    .map((line) => JSON.parse(line))
    .filter(({ level }) => level >= 40);

/** Creates a toy at each door; returns the statuses of both. */
async function createAtBothDoors(name: string): Promise<number[]> {
  const headers = { authorization: `Bearer ${tenant.token}`, 'content-type': 'application/json' };
  const post = async (path: string, body: object) =>
    (await fetch(`${app.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).status;
  const query = `mutation { createToy(input: { name: "${name}", categoryId: 1 }) { id } }`;
  return Promise.all([post('/v1/toys', { name, categoryId: 1 }), post('/graphql', { query })]);
}

test('Answers-1: a request that ends after its deadline has one answer, and only a fault is logged', async () => {
  const toys = serviceOf(app);
  const create = toys.create.bind(toys);
  let ended = 0;
  let end = () => {};
  const isOver = new Promise<void>((resolve) => {
    end = resolve;
  });
  toys.create = async (call, toy) => {
    await isOver;
    ended += 1;
    if (toy.name === 'refused') throw new AppError('conflict', 'too late');
    if (toy.name === 'faulty') throw new Error('a fault');
    return create(call, toy);
  };
  const late = await Promise.all(['fine', 'refused', 'faulty'].map(createAtBothDoors));
  toys.create = create;
  expect(late.flat()).toEqual(Array(6).fill(503));
  expect(warnings().map(({ msg }) => msg)).toEqual(Array(6).fill('unavailable'));
  end();
  await eventually('all requests have ended', () => ended === 6);
  // These end after them.
  expect(await createAtBothDoors('Rex')).toEqual([201, 200]);
  expect(warnings().map(({ msg, err }) => [msg, err?.message])).toEqual([
    ['request failed', 'a fault'],
    ['request failed', 'a fault'],
  ]);
});
