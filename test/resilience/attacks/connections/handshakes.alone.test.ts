import { once } from 'node:events';
import { connect } from 'node:tls';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { loadConfig } from '../../../../src/ground/config/config.js';
import { Database } from '../../../../src/ground/database/database.js';
import { Project } from '../../../../src/tenants/projects/project.entity.js';
import { type AttackedGateway, startAttackedGateway } from '../../../support/attacks/attacked-gateway.js';
import { clientHello, GROUPS } from '../../../support/attacks/client-hello.js';
import { RawClient } from '../../../support/attacks/raw-client.js';
import { attach, visit } from '../../../support/domains/served-domain.js';
import { eventually } from '../../../support/eventually.js';
import { DATABASE_SCHEMA } from '../../../support/gateway/tested-gateway.js';
import { freePort } from '../../../support/servers/daemon.js';

const HOST = 'shop.example.com';
const READY_AT_ONCE = 400;

let httpsPort: number;
let attacked: AttackedGateway;

beforeEach(async () => {
  httpsPort = await freePort();
  const secrets = { SECRET_KEY: 'ab'.repeat(32) };
  attacked = await startAttackedGateway({ env: { HTTPS_PORT: String(httpsPort), ...secrets } });
  const config = loadConfig({ DATABASE_URL: attacked.databaseUrl, ...secrets });
  const db = await Database.open(config.database, DATABASE_SCHEMA);
  const [project] = await db.repository(Project).find({ take: 1 });
  await attach({ db, config, clock: { now: Date.now() } }, project?.id ?? 0n, { hostname: HOST });
  await db.close();
  await eventually('served', () => visit({ httpsPort }, HOST, '/healthz').then(() => true));
});
afterEach(() => attacked.stop());

/** Connects silent clients to the TLS port. */
function connected(count: number): Promise<RawClient[]> {
  return Promise.all(Array.from({ length: count }, () => RawClient.open({ port: httpsPort })));
}

const isAnswered = ({ received, lastedMs }: RawClient) => received !== '' || lastedMs !== null;

test('Attack-22: a slow key-agreement group is refused before the server computes anything', async () => {
  const costMs = async (group: (typeof GROUPS)[keyof typeof GROUPS]) => {
    const clients = await connected(30);
    const before = await attacked.processorMs();
    const hello = clientHello(HOST, group).toString('latin1');
    for (const client of clients) client.send(hello);
    await eventually('all answered', () => clients.every(isAnswered));
    const usedMs = (await attacked.processorMs()) - before;
    for (const client of clients) client.leave();
    return usedMs;
  };
  const servedMs = await costMs(GROUPS.p384);
  // Without the refusal it was thirty times as much.
  expect(await costMs(GROUPS.ffdhe8192)).toBeLessThan(2 * servedMs);
  expect(attacked.gateway.faults()).toEqual([]);
});

test(`Attack-23: ${READY_AT_ONCE} simultaneous handshakes let the neighbour read in between`, async () => {
  const { neighbour, gateway } = attacked;
  const clients = await connected(READY_AT_ONCE);
  const hello = clientHello(HOST, GROUPS.p384).toString('latin1');
  await eventually('accepted', async () => (await attacked.descriptors()) > READY_AT_ONCE);
  neighbour.startOver();
  const startedAt = performance.now();
  for (const client of clients) client.send(hello);
  await eventually('all answered', () => clients.every(isAnswered));
  const tookMs = performance.now() - startedAt;
  await eventually('the neighbour reads', () => neighbour.readCount > 30);
  expect(neighbour.p99Ms()).toBeLessThan(tookMs / 2);
  expect(neighbour.failures()).toEqual([]);
  expect(gateway.faults()).toEqual([]);
  for (const client of clients) client.leave();
});

test('Attack-24: a body with one TLS record per byte is refused with 400', async () => {
  const socket = connect({ host: '127.0.0.1', port: httpsPort, servername: HOST, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  socket.on('error', () => {});
  const head = `Host: ${HOST}\r\nAuthorization: Bearer ${attacked.attackerToken}\r\nContent-Type: application/json`;
  socket.write(`POST /v1/toys HTTP/1.1\r\n${head}\r\nContent-Length: 9000\r\n\r\n`);
  // Without the wait Node would put queued writes into one record.
  for (let sent = 0; sent < 600; sent += 1) await new Promise((resolve) => socket.write(' ', resolve));
  await eventually('an answer', () => received.includes('\r\n\r\n'));
  expect(received).toMatch(/^HTTP\/1\.1 400 [\s\S]*too many small pieces/);
  socket.destroy();
});
