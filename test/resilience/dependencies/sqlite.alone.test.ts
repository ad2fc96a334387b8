import { afterAll, beforeAll, expect, test } from '@jest/globals';
import libsql from 'libsql';
import { type AttackedGateway, startAttackedGateway } from '../../support/attacks/attacked-gateway.js';
import { eventually } from '../../support/eventually.js';
import { type Answered, KeepAliveClient } from '../../support/http/keep-alive-client.js';
import { slowness } from '../../support/own-time.js';

const WRITERS = 50;
const HELD_MS = 4_000;

let attacked: AttackedGateway;
beforeAll(async () => {
  attacked = await startAttackedGateway();
});
afterAll(() => attacked.stop());

const tookMs = ({ sentAt, answeredAt }: Answered) => answeredAt - sentAt;

test('Attack-sqlite-1: while another program holds the lock, reads and /healthz are served, and writes are refused in 5 s', async () => {
  const { gateway, attackerToken, databaseUrl, neighbour } = attacked;
  const other = new libsql(databaseUrl.replace('sqlite:', ''));
  await eventually('a neighbour', () => neighbour.readCount > 10);
  other.exec('BEGIN IMMEDIATE');
  neighbour.startOver();
  const startedAt = performance.now();
  const isHeld = () => performance.now() - startedAt < HELD_MS;
  const ask = async (path: string, init?: Parameters<KeepAliveClient['send']>[1]) => {
    const client = new KeepAliveClient(gateway.url, attackerToken);
    const answers: Answered[] = [];
    while (isHeld()) answers.push(await client.send(path, init));
    client.close();
    return answers;
  };
  const write = () => ask('/v1/toys', { method: 'POST', body: { name: 'Rex', categoryId: 1 } });
  const [alive, ...writers] = await Promise.all([ask('/healthz'), ...Array.from({ length: WRITERS }, write)]);
  const writes = writers.flat();
  const slow = await slowness();
  const refused = writes.filter(({ status, headers }) => status === 503 && headers['retry-after']);
  expect(refused).toHaveLength(writes.length);
  expect(Math.max(...writes.map(tookMs))).toBeLessThan(5_000);
  expect(Math.max(...(alive ?? []).map(tookMs))).toBeLessThan(500 * slow);
  expect(neighbour.failures()).toEqual([]);
  expect(neighbour.p99Ms()).toBeLessThan(500 * slow);

  other.exec('ROLLBACK');
  other.close();
  const client = new KeepAliveClient(gateway.url, attackerToken);
  const served = async () =>
    (await client.send('/v1/toys', { method: 'POST', body: { name: 'Rex', categoryId: 1 } })).status === 201;
  await eventually('served again', served, 5_000);
  client.close();
});
