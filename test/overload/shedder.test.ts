import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as nextLoop } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Shedder } from '../../src/request/overload/shedder.js';

/** More than a turn of the event loop may begin. */
const BURST = 1_000;

let shedder: Shedder;
/** The paths of the requests that began. */
let begun: string[];
let ask: (path: string) => Socket;
beforeEach(() => {
  shedder = new Shedder({
    // The path names the project: /1
    tenantOf: ({ url = '' }) => ({ projectId: BigInt(url.slice(1)), plan: 'FREE' }),
    queuedStatements: () => 0,
    graphqlBody: String,
    originHeaders: () => ({}),
    onShed: () => {},
    hasProxies: false,
  });
  begun = [];
  const serve = shedder.guard((request) => begun.push(request.url ?? ''));
  ask = (path) => {
    const request = new IncomingMessage(new Socket());
    request.url = path;
    serve(request, new ServerResponse(request));
    return request.socket;
  };
});
afterEach(() => shedder.stop());

test('Overload-39: a burst of one project is spread over many turns, and a neighbour begins in the next one', async () => {
  for (let requests = 0; requests < BURST; requests += 1) ask('/1');
  expect(begun.length).toBeLessThan(65);
  ask('/2');
  await nextLoop();
  expect(begun).toContain('/2');
  expect(begun.length).toBeLessThan(100);
  while (begun.length < BURST + 1) await nextLoop();
  expect(begun.filter((path) => path === '/1')).toHaveLength(BURST);
});

test('Overload-40: a health check waits for no burst, and a request of a closed connection never begins', async () => {
  const sockets = Array.from({ length: BURST }, () => ask('/1'));
  ask('/healthz');
  expect(begun).toContain('/healthz');
  for (const socket of sockets) socket.destroy();
  const before = begun.length;
  for (let turn = 0; turn < BURST; turn += 1) await nextLoop();
  expect(begun).toHaveLength(before);
});

test('Overload-41: a few requests at a time never wait', async () => {
  for (let turn = 0; turn < 100; turn += 1) {
    for (let requests = 0; requests < 40; requests += 1) ask('/1');
    expect(begun).toHaveLength((turn + 1) * 40);
    await nextLoop();
  }
});
