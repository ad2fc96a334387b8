import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { OpenConnections } from '../../../../src/request/http/connections/open-connections.js';
import { RawClient } from '../../../support/attacks/raw-client.js';
import { eventually } from '../../../support/eventually.js';

const CONNECTIONS = 50;
/** The largest head is 16 KB. */
const HEADER = 'x'.repeat(14_000);
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

test('Attack-31: an idle connection keeps neither its last request nor its response in memory', async () => {
  const connections = new OpenConnections(1_000);
  const kept: WeakRef<object>[] = [];
  const handler: RequestListener = (request, response) => {
    kept.push(new WeakRef(request), new WeakRef(response));
    response.end('answered');
  };
  const server = createServer(connections.inTurn(handler));
  connections.watch(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => RawClient.open({ port })));
  try {
    for (const client of clients)
      client.send(`GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${HEADER}\r\n\r\n`);
    await eventually('all are answered', async () => kept.length === 2 * CONNECTIONS);
    await eventually('nothing is kept', async () => {
      collectGarbage();
      return kept.every((reference) => reference.deref() === undefined);
    });
    expect(connections.size).toBe(CONNECTIONS);
  } finally {
    for (const client of clients) client.leave();
    server.close();
  }
});
