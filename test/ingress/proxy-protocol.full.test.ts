import { once } from 'node:events';
import { connect as dial } from 'node:net';
import { connect } from 'node:tls';
import { expect, test } from '@jest/globals';
import { ask, attach, type ServingApp, startServing, visit } from '../support/domains/served-domain.js';
import { eventually } from '../support/eventually.js';
import { startProxy } from '../support/servers/haproxy.js';

const HOST = 'shop.example.com';
/** Requests of an address without a valid key, in a minute. */
const ALLOWANCE = 60;
const HEADER = 'PROXY TCP4 192.0.2.7 192.0.2.1 56324 443\r\n';
const bytes = (text: string) => Buffer.from(text, 'latin1');

async function withShop(trusted: string, work: (app: ServingApp) => Promise<void>): Promise<void> {
  const app = await startServing('sqlite', { env: { TRUSTED_PROXIES: trusted } });
  try {
    const { projectId } = await app.tenant();
    await attach(app, projectId, { hostname: HOST });
    await eventually('served', () => visit(app, HOST, '/healthz').then(() => true));
    await work(app);
  } finally {
    await app.stop();
  }
}

/** Sends bytes in front of a handshake, one part after the other, then a request without a key. Resolves with the status. */
async function askBehind(
  port: number,
  parts: readonly Buffer[],
  localAddress = '127.0.0.1',
): Promise<number> {
  const tcp = dial({ host: '127.0.0.1', port, localAddress });
  await once(tcp, 'connect');
  tcp.setNoDelay();
  for (const part of parts) await new Promise((resolve) => tcp.write(part, resolve));
  const socket = connect({ socket: tcp, servername: HOST, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const [, status] = /^HTTP\/1.1 (\d+)/.exec(await ask(socket, HOST, '/v1/toys')) ?? [];
  socket.destroy();
  return Number(status);
}

test('Proxy-4: behind the deployed proxy each client has its own allowance over HTTPS', () =>
  withShop('127.0.0.1', async (app) => {
    const proxy = await startProxy([{ http: Number(new URL(app.url).port), https: app.httpsPort }]);
    try {
      const ask = (address: string) => askBehind(proxy.httpsPort, [], address);
      await eventually('the proxy has found the gateway', () => ask('127.0.0.9').then(() => true));
      for (let sent = 0; sent < ALLOWANCE; sent += 1) expect(await ask('127.0.0.2')).toBe(401);
      expect(await ask('127.0.0.2')).toBe(429);
      expect(await ask('127.0.0.3')).toBe(401);
    } finally {
      await proxy.stop();
    }
  }));

test('Proxy-5: a trusted proxy may send the header in parts, with the handshake, or none', () =>
  withShop('127.0.0.1', async ({ httpsPort }) => {
    expect(
      await askBehind(
        httpsPort,
        [...bytes(HEADER)].map((byte) => Buffer.from([byte])),
      ),
    ).toBe(401);
    expect(await askBehind(httpsPort, [bytes(HEADER)])).toBe(401);
    expect(await askBehind(httpsPort, [])).toBe(401);
  }));

test('Proxy-6: a malformed header closes the connection, and nobody but a trusted proxy may send one', async () => {
  await withShop('127.0.0.1', async ({ httpsPort }) => {
    for (const wrong of [bytes('GET / HTTP/1.1\r\n\r\n'), Buffer.alloc(600)]) {
      await expect(askBehind(httpsPort, [wrong])).rejects.toThrow();
    }
    const silent = dial({ host: '127.0.0.1', port: httpsPort });
    silent.write('PROXY TCP4 ');
    await once(silent, 'close');
    expect(await askBehind(httpsPort, [])).toBe(401);
  });
  await withShop('192.0.2.1', async ({ httpsPort }) => {
    await expect(askBehind(httpsPort, [bytes(HEADER)])).rejects.toThrow();
    expect(await askBehind(httpsPort, [])).toBe(401);
  });
});
