import { once } from 'node:events';
import { connect as dial } from 'node:net';
import { connect } from 'node:tls';
import { expect, test } from '@jest/globals';
import { Certificate } from '../../src/domains/certificates/store/certificate.store.js';
import { anyDatabase } from '../support/databases.js';
import {
  ask,
  attach,
  handshake,
  plain,
  type ServingApp,
  startServing,
  visit,
} from '../support/domains/served-domain.js';
import { eventually } from '../support/eventually.js';
import { inOwnTicks } from '../support/own-time.js';

const HOST = 'shop.example.com';
const HANDSHAKES = 500;

async function withShop(
  work: (app: ServingApp, queries: string[]) => Promise<void>,
  kind: Parameters<typeof startServing>[0] = 'sqlite',
  env: Record<string, string> = {},
): Promise<void> {
  const queries: string[] = [];
  const app = await startServing(kind, { onQuery: (sql) => queries.push(sql), env });
  try {
    const { projectId } = await app.tenant();
    await attach(app, projectId, { hostname: HOST });
    await eventually('served', () => visit(app, HOST, '/healthz').then(() => true));
    await work(app, queries);
  } finally {
    await app.stop();
  }
}

test('Domains-TLS-1: a handshake for an unknown name, or without a name, gets an alert and no certificate', () =>
  withShop(async (app) => {
    const names = ['', 'nobody.example.com', 'localhost', 'petstore.localhost', 'example.com', `x.${HOST}`];
    for (const name of names) {
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        await expect(handshake(app, name, { maxVersion })).rejects.toThrow(/alert handshake failure/);
      }
    }
    expect((await handshake(app, 'SHOP.Example.com')).getPeerCertificate().subject.CN).toBe(HOST);
  }));

test('Domains-TLS-2: only TLS 1.2, TLS 1.3 and HTTP/1.1 are accepted', () =>
  withShop(async (app) => {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await handshake(app, HOST, { maxVersion, ALPNProtocols: ['h2', 'http/1.1'] });
      expect([socket.getProtocol(), socket.alpnProtocol]).toEqual([maxVersion, 'http/1.1']);
      socket.destroy();
    }
    await expect(handshake(app, HOST, { ALPNProtocols: ['h2'] })).rejects.toThrow(
      /alert no application protocol/,
    );
    const old = connect({
      host: '127.0.0.1',
      port: app.httpsPort,
      servername: HOST,
      minVersion: 'TLSv1.1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    await expect(once(old, 'secureConnect')).rejects.toThrow(/alert/);
  }));

test.each([anyDatabase()])(
  'Domains-TLS-3: on %s 500 handshakes with random names cost no query and load no certificate',
  (kind) =>
    withShop(async (app, queries) => {
      queries.length = 0;
      const refused = await Promise.allSettled(
        Array.from({ length: HANDSHAKES }, (_, index) => handshake(app, `r${index}.example.com`)),
      );
      expect(refused.filter(({ status }) => status === 'fulfilled')).toEqual([]);
      expect(queries.filter((sql) => /FROM .?certificates/.test(sql))).toEqual([]);
      // Only the gateway's periodic queries, which do not depend on the handshakes.
      expect(queries.length).toBeLessThan(HANDSHAKES / 10);
      expect((await visit(app, HOST, '/healthz')).status).toBe(200);
    }, kind),
);

test('Domains-TLS-4: a certificate is loaded once for many handshakes, and a broken one is not read again and again', () =>
  withShop(async (app, queries) => {
    const loads = () => queries.filter((sql) => /FROM .?certificates/.test(sql)).length;
    const { projectId } = await app.tenant();
    for (const hostname of ['busy.example.com', 'broken.example.com'])
      await attach(app, projectId, { hostname });
    await app.db.repository(Certificate).update({ hostname: 'broken.example.com' }, { sealedKey: 'v1.x.y' });
    await eventually('known', () => handshake(app, 'busy.example.com').then(() => true));
    queries.length = 0;
    await Promise.all(Array.from({ length: 20 }, () => handshake(app, 'busy.example.com')));
    expect(loads()).toBe(0);
    const startedAt = performance.now();
    for (let count = 0; count < 20; count += 1) {
      await expect(handshake(app, 'broken.example.com')).rejects.toThrow(/alert/);
    }
    expect(loads()).toBeLessThanOrEqual(2 + (performance.now() - startedAt) / 1_000);
  }));

test('Domains-TLS-8: handshakes for many hosts of one project load two certificates at a time, and delay no other project', () =>
  withShop(async (app) => {
    const { certificates } = await app.app.customDomains.load();
    const find = certificates.findCertificate.bind(certificates);
    const [flooded, other] = [await app.tenant(), await app.tenant()];
    const names = Array.from({ length: 20 }, (_, index) => `shop-${index}.example.org`);
    for (const hostname of names) await attach(app, flooded.projectId, { hostname });
    await attach(app, other.projectId, { hostname: 'other.example.net' });
    await app.app.hosts.sync();
    let [running, most] = [0, 0];
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    certificates.findCertificate = async (id, hostname) => {
      running += 1;
      most = Math.max(most, running);
      if (names.includes(hostname)) await gate;
      running -= 1;
      return find(id, hostname);
    };
    const flood = Promise.all(names.map((name) => handshake(app, name)));
    await eventually('the loads wait', () => running === 2);
    expect((await handshake(app, 'other.example.net')).getPeerCertificate().subject.CN).toBe(
      'other.example.net',
    );
    expect(most).toBe(3);
    open();
    expect(await flood).toHaveLength(names.length);
    certificates.findCertificate = find;
  }));

test('Domains-TLS-5: an invalid request gets the same refusal over TLS as over plain HTTP', () =>
  withShop(async (app) => {
    const say = async (head: string) => {
      const socket = await handshake(app, HOST);
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      socket.write(head);
      await once(socket, 'close');
      return text;
    };
    expect(await say('garbage\r\n\r\n')).toMatch(/^HTTP\/1.1 400 .*not valid HTTP/s);
    expect(await say(`GET / HTTP/1.1\r\nHost: ${HOST}\r\nX: ${'a'.repeat(17_000)}\r\n\r\n`)).toContain(
      '16 KB',
    );
    expect(await say(`CONNECT ${HOST}:1 HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)).toContain(
      'CONNECT is not supported',
    );
    const twice = `GET / HTTP/1.1\r\nHost: ${HOST}\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`;
    expect(await say(twice)).toContain('more than one Host');
    expect(await say('GET / HTTP/1.0\r\n\r\n')).toContain('421 Misdirected');
    // Plain HTTP at this port is not a handshake.
    const lost = dial(app.httpsPort, '127.0.0.1', () => lost.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
    await once(lost.resume(), 'close');
    expect((await visit(app, HOST, '/healthz')).status).toBe(200);
  }));

test('Domains-TLS-7: over TLS that a trusted proxy passed through, a client cannot choose its address, host or scheme', () =>
  withShop(
    async (app) => {
      const left = async (address: string) => {
        const headers = {
          'x-forwarded-for': address,
          'x-forwarded-proto': 'http',
          'x-forwarded-host': 'other.test',
        };
        const { status, headers: answered } = await visit(app, HOST, '/v1/toys', { headers });
        expect(status).toBe(401);
        return Number(answered['x-ratelimit-remaining']);
      };
      const first = await left('203.0.113.1');
      expect(await left('203.0.113.2')).toBe(first - 1);
      const { headers } = await plain(app, 'localhost', '/v1/toys', {
        headers: { 'x-forwarded-for': '203.0.113.3' },
      });
      expect(Number(headers['x-ratelimit-remaining'])).toBe(first);
    },
    'sqlite',
    { TRUSTED_PROXIES: '127.0.0.0/8' },
  ));

test('Reliability-11: a draining process answers in-flight requests over TLS with Connection: close, and then ends', () =>
  withShop(async (app) => {
    const idle = await handshake(app, HOST);
    const busy = await handshake(app, HOST);
    const ended = app.app.drain.run({ reason: 'the end of a test', lameDuckMs: 300, withinMs: 5_000 });
    expect(await ask(busy, HOST, '/healthz')).toMatch(/^HTTP\/1.1 200 .*\r\nconnection: close\r\n/is);
    const { tookMs } = await inOwnTicks(() => Promise.all([ended, idle.closed || once(idle, 'close')]));
    expect(tookMs).toBeLessThan(2_000);
    await expect(handshake(app, HOST)).rejects.toThrow(/ECONNREFUSED/);
  }));
