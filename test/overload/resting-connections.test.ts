import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { setImmediate as nextLoop, setTimeout as pause } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import { RestingConnections } from '../../src/request/http/connections/resting-connections.js';
import { Shedder } from '../../src/request/overload/shedder.js';
import { RequestFlood } from '../support/attacks/request-flood.js';
import { eventually } from '../support/eventually.js';

const CONNECTIONS = 200;
const FLOOD_MS = 2_000;
const REFUSALS_PER_MS = 1.5;

test('Overload-24: a flood gets no more refusals than the process can afford, and every connection is read again', async () => {
  const resting = new RestingConnections(() => REFUSALS_PER_MS);
  const server = createServer(({ socket }, response) => {
    response.writeHead(503).end(() => setImmediate(() => resting.rest(null, socket)));
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

test('Overload-37: the resting connections of a flood are read again evenly, and those of a neighbour before them', () => {
  jest.useFakeTimers();
  const resting = new RestingConnections(() => 0.2);
  const flood = Array.from({ length: 1_000 }, () => new Socket());
  const neighbour = new Socket();
  const stillResting = () => flood.filter((socket) => socket.isPaused()).length;
  for (const socket of flood) resting.rest(1n, socket);
  resting.rest(2n, neighbour);
  jest.advanceTimersByTime(20);
  expect(neighbour.isPaused()).toBe(false);
  for (let passed = 0; passed < 50; passed += 1) {
    const before = stillResting();
    jest.advanceTimersByTime(100);
    const read = before - stillResting();
    expect(read).toBeLessThanOrEqual(27);
    if (before > 30) expect(read).toBeGreaterThanOrEqual(18);
  }
  expect(stillResting()).toBe(0);
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

test('Overload-38: closed connections take no turn of others', () => {
  jest.useFakeTimers();
  const resting = new RestingConnections(() => 0.2);
  const closed = Array.from({ length: 100 }, () => new Socket());
  const open = new Socket();
  for (const socket of [...closed, open]) resting.rest(1n, socket);
  for (const socket of closed) socket.destroy();
  jest.advanceTimersByTime(20);
  expect(open.isPaused()).toBe(false);
  jest.useRealTimers();
});

test.each([
  ['large', '9000', 429, false, true],
  ['large', '9000', 503, false, true],
  ['large', '9000', 400, false, false],
  ['small', '8000', 429, false, false],
  ['large', '9000', 429, true, false],
])(
  'Overload-36: a flood of %s bodies (%s bytes) with %i, behind proxies: %j, is read less often: %j',
  async (_, length, statusCode, hasProxies, rests) => {
    const shedder = new Shedder({
      tenantOf: () => null,
      queuedStatements: () => 0,
      graphqlBody: String,
      originHeaders: () => ({}),
      onShed: () => {},
      hasProxies,
    });
    let answered = 0;
    const serve = shedder.guard((__, response) => {
      answered += 1;
      response.statusCode = statusCode;
      response.end();
      response.emit('close');
    });
    const sockets = Array.from({ length: 50 }, () => new Socket());
    for (const socket of sockets) {
      const request = new IncomingMessage(socket);
      request.headers['content-length'] = length;
      serve(request, new ServerResponse(request));
    }
    while (answered < sockets.length) await nextLoop();
    await nextLoop();
    // The first few are within the rate.
    const resting = sockets.filter((socket) => socket.isPaused()).length;
    expect(resting > 40).toBe(rests);
    expect(resting > 0).toBe(rests);
    shedder.stop();
    expect(sockets.filter((socket) => socket.isPaused())).toEqual([]);
  },
);
