import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { DATABASE_SCHEMA } from '../../../src/app/database-schema.js';
import { createServices } from '../../../src/app/services.js';
import { loadConfig } from '../../../src/config/config.js';
import { Database } from '../../../src/database/database.js';
import { Targets } from '../../../src/dns/targets.js';
import { SCOPES } from '../../../src/kernel/caller.js';
import { type AttackedGateway, startAttackedGateway } from '../../support/attacks/attacked-gateway.js';
import { type DatabaseKind, databaseKinds } from '../../support/databases.js';
import { type DnsServerDouble, startDnsServer } from '../../support/dns/dns-server.js';
import { ownerOf } from '../../support/domains/domain-rig.js';

const PLATFORM_HOST = 'petstore.test';
const DOMAINS = 30;
/** The verifications that a project may request in a minute. */
const VERIFICATIONS = 60;
/** The process has 1,024 descriptors; 256 of them are for DNS. */
const MOST_DESCRIPTORS = 500;
const QUESTIONS_A_SECOND = 40;
const actor = { name: 'test', requestId: null };

const open: { stop(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

/** Starts a gateway that uses this DNS server; `newOwner` creates a project and returns its client for domains. */
async function start(kind?: DatabaseKind): Promise<{
  dns: DnsServerDouble;
  attacked: AttackedGateway;
  newOwner(): Promise<ReturnType<typeof ownerOf>>;
}> {
  const dns = await startDnsServer();
  open.push(dns);
  dns.zone(PLATFORM_HOST);
  dns.set(PLATFORM_HOST, 'A', '192.0.2.10');
  const attacked = await startAttackedGateway({
    ...(kind ? { kind } : {}),
    env: {
      PLATFORM_HOST,
      DNS_SERVERS: dns.hostPort,
      DNS_NAME_SERVER_PORT: String(dns.port),
      DNS_PRIVATE_NAME_SERVERS: '1',
    },
  });
  open.push(attacked);
  return { dns, attacked, newOwner: () => newOwner(attacked) };
}

let owners = 0;

async function newOwner({ gateway, databaseUrl }: AttackedGateway): Promise<ReturnType<typeof ownerOf>> {
  const db = await Database.open(loadConfig({ DATABASE_URL: databaseUrl }).database, DATABASE_SCHEMA);
  const { projects, apiKeys } = createServices(db, Date.now);
  owners += 1;
  const slug = `owner-${process.pid}-${owners}`;
  const project = await projects.create(actor, {
    slug,
    name: null,
    plan: 'PRO',
    perMinute: null,
    perDay: null,
  });
  await projects.publish(actor, project.id);
  const wanted = { projectId: project.id, name: 'test', scopes: SCOPES, expiresAtMs: null };
  const { token } = await apiKeys.create(actor, wanted);
  await db.close();
  return ownerOf(gateway, { token });
}

/** Starts a machine that receives packets, counts them and never answers. */
async function startSilence(
  address: string,
  port: number,
): Promise<{ packets: number; stop(): Promise<void> }> {
  const socket: Socket = createSocket('udp4');
  socket.bind(port, address);
  await once(socket, 'listening');
  const silence = {
    packets: 0,
    stop: async () => {
      socket.close();
    },
  };
  socket.on('message', () => {
    silence.packets += 1;
  });
  open.push(silence);
  return silence;
}

test('Attack-D1: sixty simultaneous verifications against silent name servers leave the descriptors for other requests', async () => {
  const { dns, attacked, newOwner } = await start();
  const { neighbour } = attacked;
  const silent = await Promise.all(
    Array.from({ length: 8 }, (_, index) => startSilence(`127.0.3.${index + 1}`, dns.port)),
  );
  const names = silent.map((_, index) => [`ns${index + 1}.hostile.test`, `127.0.3.${index + 1}`]);
  dns.zone('hostile.test', Object.fromEntries(names));
  const owner = await newOwner();
  const ids: string[] = [];
  for (let index = 0; index < DOMAINS; index += 1) {
    ids.push((await owner.add(`shop-${index}.hostile.test`)).id);
  }
  for (const one of silent) one.packets = 0;
  neighbour.startOver();
  let most = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      most = Math.max(most, await attacked.descriptors());
      await pause(20);
    }
  })();
  const startedMs = performance.now();
  const answers = await Promise.allSettled(
    Array.from({ length: VERIFICATIONS }, (_, index) => owner.verify(ids[index % DOMAINS] ?? '')),
  );
  isOver = true;
  await watching;
  const refusals = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason.code] : []));
  // A verification without a free slot is refused with a retry time.
  expect(new Set(refusals)).toEqual(new Set(refusals.length > 0 ? ['UNAVAILABLE'] : []));
  expect(refusals.length).toBeLessThan(VERIFICATIONS);
  expect(most).toBeLessThan(MOST_DESCRIPTORS);
  expect(neighbour.failures()).toEqual([]);
  const seconds = (performance.now() - startedMs) / 1_000;
  for (const { packets } of silent) expect(packets).toBeLessThan(2 * QUESTIONS_A_SECOND * (seconds + 1));
});

test('Attack-D2: questions to one address are bounded, however many zones name it', async () => {
  const targets = new Targets();
  const asked = Array.from({ length: 1_000 }, () => targets.mayAsk('203.0.113.7'));
  expect(asked.filter(Boolean)).toHaveLength(QUESTIONS_A_SECOND);
  expect(targets.mayAsk('203.0.113.8')).toBe(true);
});

describe.each(databaseKinds())('on %s', (kind) => {
  test('Attack-D3: answers of 60 KB give short findings, short rows and a short timeline', async () => {
    const { dns, newOwner } = await start(kind);
    // Short names leave room for more addresses in an answer.
    dns.zone('h.test');
    const owner = await newOwner();
    const { id } = await owner.add('s.h.test');
    const addresses = (part: string) =>
      Array.from(
        { length: 1_700 },
        (_, index) => `2a00:1111:2222:3333:4444:5555:${part}:${(0x1000 + index).toString(16)}`,
      );
    for (const part of ['6666', '7777', '8888']) {
      dns.set('s.h.test', 'AAAA', addresses(part));
      const { diagnoses, timeline } = await owner.verify(id);
      expect(diagnoses[0]).toMatchObject({ code: 'CONFLICTING_RECORD' });
      expect(diagnoses[0].cause).toMatch(/ and 1692 more/);
      expect(JSON.stringify(diagnoses).length).toBeLessThan(20_000);
      expect(JSON.stringify(timeline).length).toBeLessThan(20_000);
    }
  });
});
