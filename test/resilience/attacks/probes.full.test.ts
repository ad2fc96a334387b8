import { afterAll, beforeAll, expect } from '@jest/globals';
import { type AttackedGateway, startAttackedGateway } from '../../support/attacks/attacked-gateway.js';
import { RequestFlood } from '../../support/attacks/request-flood.js';
import { eventually } from '../../support/eventually.js';
import { testOnMysql as test } from '../../support/on-databases.js';

/** More than the queue of the database pool has places. */
const CONNECTIONS = 800;
const PROBES = 5_000;

let attacked: AttackedGateway;
beforeAll(async () => {
  attacked = await startAttackedGateway({ kind: 'mysql' });
});
afterAll(() => attacked.stop());

test('Attack-29: a flood of readiness probes takes no process out of service, and neighbours are served', async () => {
  const { gateway, neighbour } = attacked;
  neighbour.startOver();
  const flood = new RequestFlood(gateway.url, {
    betweenMs: 0,
    connections: CONNECTIONS,
    ask: () => ({ path: '/readyz' }),
  });
  await eventually('the flood', () => flood.answered > PROBES, 60_000);
  await flood.stop();
  expect(flood.answers.get(503) ?? 0).toBe(0);
  expect(flood.answers.get(200)).toBeGreaterThanOrEqual(PROBES);
  expect(neighbour.failures()).toEqual([]);
  expect(gateway.faults()).toEqual([]);
});
