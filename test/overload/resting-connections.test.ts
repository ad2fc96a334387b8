import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { RestingConnections } from '../../src/overload/resting-connections.js';
import { RequestFlood } from '../support/attacks/request-flood.js';
import { eventually } from '../support/eventually.js';

const CONNECTIONS = 200;
const FLOOD_MS = 2_000;
const REFUSALS_PER_MS = 1.5;

test('Overload-24: a flood gets no more refusals than the process can afford, and every connection is read again', async () => {
  const resting = new RestingConnections(() => REFUSALS_PER_MS);
  const server = createServer(({ socket }, response) => {
    response.writeHead(503).end(() => setImmediate(() => resting.rest(socket)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ask = () => ({ path: '/' });
  const flood = new RequestFlood(`http://127.0.0.1:${port}`, { connections: CONNECTIONS, betweenMs: 0, ask });
  const startedAtMs = performance.now();
  await pause(FLOOD_MS);
  const seconds = (performance.now() - startedAtMs) / 1000;
  // A connection that has not rested yet has one more answer.
  expect(flood.answered).toBeLessThan(1_000 * REFUSALS_PER_MS * seconds + 2 * CONNECTIONS);
  expect(flood.answers.get('no answer')).toBeUndefined();

  const before = flood.answered;
  const isReadAgain = async () => flood.answered - before > 2 * CONNECTIONS;
  await eventually('read again', isReadAgain, 60_000);
  resting.stop();
  await flood.stop();
  server.closeAllConnections();
  server.close();
});
