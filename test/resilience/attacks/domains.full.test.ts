import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';

import { type AttackedDomains, startAttackedDomains } from '../../support/attacks/attacked-domains.js';
import { anyDatabase, type DatabaseKind } from '../../support/databases.js';

const DOMAINS = 30;
/** The verifications that a project may request in a minute. */
const VERIFICATIONS = 60;
/** The process has 1,024 descriptors; 256 of them are for DNS. */
const MOST_DESCRIPTORS = 500;
const QUESTIONS_A_SECOND = 40;

const open: { stop(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

async function start(kind?: DatabaseKind): Promise<AttackedDomains> {
  const domains = await startAttackedDomains(kind);
  open.push(domains);
  return domains;
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

describe.each([anyDatabase()])('on %s', (kind) => {
  test('Attack-D3: answers of 100 records give short findings, short rows and a short timeline', async () => {
    const { dns, newOwner } = await start(kind);
    dns.zone('h.test');
    const owner = await newOwner();
    const { id } = await owner.add('s.h.test');
    const addresses = (part: string) =>
      Array.from(
        { length: 100 },
        (_, index) => `2a00:1111:2222:3333:4444:5555:${part}:${(0x1000 + index).toString(16)}`,
      );
    for (const part of ['6666', '7777', '8888']) {
      dns.set('s.h.test', 'AAAA', addresses(part));
      const { diagnoses, timeline } = await owner.verify(id);
      expect(diagnoses[0]).toMatchObject({ code: 'CONFLICTING_RECORD' });
      expect(diagnoses[0].cause).toMatch(/ and 92 more/);
      expect(JSON.stringify(diagnoses).length).toBeLessThan(20_000);
      expect(JSON.stringify(timeline).length).toBeLessThan(20_000);
    }
  });
});
