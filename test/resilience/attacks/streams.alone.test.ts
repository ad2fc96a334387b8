import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { type AttackedStreams, startAttackedStreams } from '../../support/attacks/attacked-streams.js';
import type { RawClient } from '../../support/attacks/raw-client.js';
import {
  createLargeToys,
  isLive,
  largeOperation,
  SMALL_OPERATION,
  statusOf,
  streamRequest,
} from '../../support/attacks/raw-streams.js';
import { eventually } from '../../support/eventually.js';
import { graphql, rest } from '../../support/http/client.js';
import { processorSlowness, slowness } from '../../support/own-time.js';

const MANY = 80;
const ACCEPT = { accept: 'text/event-stream' };

let attacked: AttackedStreams;
beforeAll(async () => {
  attacked = await startAttackedStreams();
});
afterEach(() => attacked.leaveAll());
afterAll(() => attacked.stop());

test(`StreamAttack-1: ${MANY} streams that are never read end by themselves, and keep little memory until then`, async () => {
  const { newKey, gateway, openUnread, openStreams, noneIsOpen, leaveAll, attack } = attacked;
  const token = await newKey();
  await createLargeToys(gateway.url, token, 1);
  const { body } = await graphql(gateway.url, '{ toyChanges(first: 1) { nodes { cursor } } }', { token });
  const after = `(after: "${body.data.toyChanges.nodes[0].cursor}")`;
  const { mostMb } = await attack(async () => {
    for (let at = 0; at < MANY; at += 1) {
      // Half of them begin behind the newest change.
      const query = largeOperation(at % 4, at % 2 ? after : '');
      openUnread(streamRequest(token, { query }));
    }
    await eventually('all open', async () => (await openStreams()) === MANY);
    // More than the buffers of the operating system take.
    await createLargeToys(gateway.url, token, 3);
    await noneIsOpen();
    await leaveAll();
  });
  expect(mostMb).toBeLessThan(90);
}, 120_000);

test(`StreamAttack-2: ${MANY} streams with different operations stop no other request, and keep no results`, async () => {
  const { newKey, gateway, open, attack } = attacked;
  const token = await newKey('BUSINESS');
  const clients: RawClient[] = [];
  for (let at = 0; at < MANY; at += 1)
    clients.push(await open(streamRequest(token, { query: largeOperation(at) })));
  const resultsOf = ({ received }: RawClient) => received.split('event: next').length - 1;
  const { mostMb } = await attack(async () => {
    await createLargeToys(gateway.url, token, 1);
    await eventually('all changes', () => clients.every((client) => resultsOf(client) === 100), 60_000);
  });
  expect(clients.filter(({ lastedMs }) => lastedMs !== null)).toEqual([]);
  expect(mostMb).toBeLessThan(60);
}, 120_000);

test('StreamAttack-3: a burst beyond the plan opens exactly the plan; refusals cost nothing, and one after the other asks the database once a second', async () => {
  const { newKey, gateway, open, attack } = attacked;
  const token = await newKey('PRO');
  const dayLeft = async () => (await rest(gateway.url, '/v1/rate_limit', { token })).body.day.remaining;
  const before = await dayLeft();
  let clients: RawClient[] = [];
  await attack(async () => {
    clients = await Promise.all(Array.from({ length: 60 }, () => open(streamRequest(token))));
    for (let sent = 0; sent < 500; sent += 1) {
      const { body } = await graphql(gateway.url, SMALL_OPERATION, { token, headers: ACCEPT });
      expect(body.errors[0].extensions.code).toBe('TOO_MANY_STREAMS');
    }
  });
  expect(before - (await dayLeft())).toBe(20);
  const refused = clients.filter((client) => !isLive(client));
  expect(refused.map(statusOf)).toEqual(Array(40).fill(429));
  for (const { received } of refused)
    expect(received).toMatch(/"code":"TOO_MANY_STREAMS","status":429,"retryAfterSeconds":30,"limit":20\b/);
  expect(clients.filter((client) => isLive(client) && client.lastedMs !== null)).toEqual([]);
}, 60_000);

test('StreamAttack-4: a revoked key loses its streams within a second, and its address has no more attempts than any', async () => {
  const { newKey, gateway, open, openStreams, leaveAll, attack } = attacked;
  const token = await newKey();
  const clients = await Promise.all(Array.from({ length: 20 }, () => open(streamRequest(token))));
  const { body } = await graphql(gateway.url, '{ apiKey { id } }', { token });
  const revoke = `mutation { revokeApiKey(id: "${body.data.apiKey.id}") { revokedAt } }`;
  expect((await graphql(gateway.url, revoke, { token })).body.errors).toBeUndefined();
  const sinceMs = performance.now();
  await eventually('the ends', () =>
    clients.every(({ received }) => /"UNAUTHORIZED".*event: complete/s.test(received)),
  );
  expect(performance.now() - sinceMs).toBeLessThan(1_000 * (await slowness()));
  await leaveAll();
  const statuses: number[] = [];
  await attack(async () => {
    for (let sent = 0; sent < 150; sent += 1)
      statuses.push((await graphql(gateway.url, SMALL_OPERATION, { token, headers: ACCEPT })).status);
  });
  expect([...new Set(statuses)].sort()).toEqual([401, 429]);
  // Perhaps in two minutes.
  expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(120);
  expect(await openStreams()).toBe(0);
}, 60_000);

const LARGE = 'x'.repeat(90_000);
const listOf = (count: number, entry: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => entry(at)).join(' ');
const CHAIN = listOf(90, (at) => `fragment F${at} on Toy { name ...F${at + 1} }`);
const REFUSED: [what: string, request: Parameters<typeof streamRequest>[1], code: string][] = [
  ['a comment of 90 KB', { query: `${SMALL_OPERATION} # ${LARGE}` }, 'INVALID_REQUEST'],
  [
    '5,000 aliases',
    { query: `subscription { ${listOf(5_000, (at) => `a${at}: toyChanges`)} }` },
    'GRAPHQL_PARSE_FAILED',
  ],
  [
    '1,500 selections',
    { query: `subscription { toyChanges { ${'cursor '.repeat(1_500)} } }` },
    'INVALID_REQUEST',
  ],
  [
    '15 root fields',
    { query: `subscription { ${listOf(15, (at) => `a${at}: toyChanges { cursor }`)} }` },
    'GRAPHQL_VALIDATION_FAILED',
  ],
  [
    '90 nested fragments',
    { query: `subscription { toyChanges { toy { ...F0 } } } ${CHAIN} fragment F90 on Toy { name }` },
    'INVALID_REQUEST',
  ],
  [
    'a cursor of 90 KB',
    { query: `subscription { toyChanges(after: "${LARGE.slice(0, 9_000)}") { cursor } }` },
    'INVALID_REQUEST',
  ],
  [
    'variables of 90 KB',
    {
      query: `subscription ($after: String) { toyChanges(after: $after) { cursor } }`,
      variables: { after: LARGE },
    },
    'INVALID_REQUEST',
  ],
  ['Last-Event-ID of 15 KB', { headers: { 'last-event-id': LARGE.slice(0, 15_000) } }, 'INVALID_REQUEST'],
];
const SENT = 40;
const MOST_PROCESSOR_MS = 10;

test('StreamAttack-5: large requests are refused before a stream begins, in milliseconds and the form of every refusal', async () => {
  const { newKey, open, openStreams, attack, processorMs } = attacked;
  const token = await newKey();
  const costs: [string, number][] = [];
  await attack(async () => {
    for (const [what, request, code] of REFUSED) {
      const bytes = streamRequest(token, request);
      const slow = processorSlowness();
      const before = await processorMs();
      const clients = await Promise.all(Array.from({ length: SENT }, () => open(bytes)));
      costs.push([what, ((await processorMs()) - before) / SENT / Math.max(slow, processorSlowness())]);
      for (const client of clients) {
        expect([what, statusOf(client), client.received]).toEqual([
          what,
          400,
          expect.stringContaining(`"code":"${code}"`),
        ]);
        client.leave();
      }
    }
  });
  expect(costs.filter(([, costMs]) => costMs > MOST_PROCESSOR_MS)).toEqual([]);
  expect(await openStreams()).toBe(0);
}, 60_000);

test('StreamAttack-6: values that an operation does not declare are not kept, and leave room for other bodies', async () => {
  const { newKey, open, leaveAll, attack } = attacked;
  const token = await newKey();
  const values = Array.from({ length: 4_500 }, (_, at) => `value ${at} of many`);
  const clients: RawClient[] = [];
  const { keptMb } = await attack(async () => {
    for (let sent = 0; sent < MANY; sent += 1)
      clients.push(await open(streamRequest(token, { variables: { values: [...values, String(sent)] } })));
  });
  expect(clients.map(statusOf)).toEqual(clients.map(() => 200));
  await leaveAll();
  expect(keptMb).toBeLessThan(20);
}, 60_000);
