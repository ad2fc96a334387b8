import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import packet, { type Answer } from 'dns-packet';
import fc from 'fast-check';
import { askServer } from '../../src/domains/dns/ask-server.js';
import { type Answer as DnsAnswer, DnsUnreachable } from '../../src/domains/dns/dns-message.js';
import { decodeAnswer, encodeQuery, isSendable } from '../../src/domains/dns/dns-packets.js';
import { NameServers } from '../../src/domains/dns/name-servers.js';
import { Resolver } from '../../src/domains/dns/resolver.js';
import { type DnsServerDouble, framed, startDnsServer } from '../support/dns/dns-server.js';
import { answerHead, compressedFlood, pointerTo, wireRecord } from '../support/dns/hostile-messages.js';
import { inOwnTicks } from '../support/own-time.js';

const NOON_MS = Date.UTC(2026, 0, 15, 12);
const QUESTION = { name: 'shop.customer.test', type: 'A' } as const;
const QUERY = encodeQuery({
  id: 4711,
  question: QUESTION,
  recursionDesired: false,
  checkingDisabled: false,
  hasEdns: true,
});
const AFTER_HEAD = answerHead(QUERY, 0).length;
const [A, CNAME, SOA, TXT] = [1, 5, 6, 16];
const asker = { projectId: 1n, signal: new AbortController().signal };
setMaxListeners(0, asker.signal);
const started: DnsServerDouble[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()));
});

async function start(): Promise<DnsServerDouble> {
  const server = await startDnsServer();
  started.push(server);
  server.set(QUESTION.name, 'A', '192.0.2.1');
  return server;
}

function ask({ address, port }: DnsServerDouble, monotonicNow?: () => number) {
  const clock = monotonicNow ? { monotonicNow } : {};
  const options = { recursionDesired: true, timeoutMs: 400, asker, now: () => NOON_MS, ...clock };
  return askServer({ address, port }, QUESTION, options);
}

const reasonOf = async (asked: Promise<DnsAnswer>) => {
  const answer = await asked;
  return answer instanceof DnsUnreachable ? answer.reason : 'answered';
};

const owner = pointerTo(12);
const answerOf = (...records: Buffer[]) => Buffer.concat([answerHead(QUERY, records.length), ...records]);
/** Each takes 256 bytes. */
const strings = (count: number) =>
  Buffer.concat(Array<Buffer>(count).fill(Buffer.concat([Buffer.of(255), Buffer.alloc(255, 'x')])));
const addresses = (count: number) =>
  answerOf(...Array<Buffer>(count).fill(wireRecord(owner, A, Buffer.of(192, 0, 2, 1))));

test('Dns-19: an answer of 8 KB, and one of 100 records with names of 8 labels, are decoded', () => {
  expect(decodeAnswer(answerOf(wireRecord(owner, TXT, strings(31)))).records[0]?.value).toBe(
    'x'.repeat(31 * 255),
  );
  const deep = { ...QUESTION, name: 'a.b.c.d.e.f.customer.test' };
  const query = encodeQuery({
    id: 1,
    question: deep,
    recursionDesired: false,
    checkingDisabled: false,
    hasEdns: true,
  });
  const record = wireRecord(owner, CNAME, owner);
  const { records } = decodeAnswer(
    Buffer.concat([answerHead(query, 100), ...Array<Buffer>(100).fill(record)]),
  );
  expect(records).toHaveLength(100);
  expect(records[99]).toMatchObject({ name: deep.name, type: 'CNAME', value: deep.name });
});

const loop = pointerTo(AFTER_HEAD + 12);
const cut = wireRecord(owner, A, Buffer.alloc(4));
cut.writeUInt16BE(500, 10);
test.each<[string, Buffer]>([
  ['64 KB', compressedFlood(QUERY, 4_600)],
  ['one record of more than 8 KB', answerOf(wireRecord(owner, TXT, strings(32)))],
  ['102 records', addresses(102)],
  ['a header that promises 65,535 records', Buffer.concat([answerHead(QUERY, 0xffff), cut])],
  ['66 names of 126 labels in a small packet', compressedFlood(QUERY, 66)],
  ['a name that points to itself', answerOf(wireRecord(owner, CNAME, loop))],
  ['a name that ends behind the message', answerOf(wireRecord(owner, CNAME, Buffer.of(63)))],
  ['a name with a reserved label', answerOf(wireRecord(owner, CNAME, Buffer.of(0x80, 0)))],
  ['a record that ends behind the message', answerOf(cut)],
  ['an address of 3 bytes', answerOf(wireRecord(owner, A, Buffer.alloc(3)))],
  ['an SOA without numbers', answerOf(wireRecord(owner, SOA, Buffer.alloc(2)))],
])('Dns-20: %s is refused as malformed', (_, message) => {
  expect(() => decodeAnswer(message)).toThrow(expect.objectContaining({ name: 'RangeError' }));
});

test('Dns-25: a dot or a backslash in a label is no border of a label, and such a name is never asked', () => {
  const name = (...labels: string[]) =>
    Buffer.concat([
      ...labels.map((label) => Buffer.from(String.fromCharCode(label.length) + label)),
      Buffer.of(0),
    ]);
  const { records } = decodeAnswer(
    answerOf(
      wireRecord(owner, CNAME, name('a.customer', 'test')),
      wireRecord(owner, CNAME, name('a\\', 'customer', 'test')),
      wireRecord(owner, CNAME, name('a', 'customer', 'test')),
    ),
  );
  const values = records.map(({ value }) => value);
  expect(values).toEqual(['a\\.customer.test', 'a\\\\.customer.test', 'a.customer.test']);
  expect(values.map(isSendable)).toEqual([false, false, true]);
});

test('Dns-21: any bytes are decoded or refused', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ minLength: 12, maxLength: 400 }),
    fc.tuple(fc.integer({ min: 2, max: 500 }), fc.integer({ min: 0, max: 255 })).map(([at, value]) => {
      const message = Buffer.from(compressedFlood(QUERY, 8));
      message[at % message.length] = value;
      return message;
    }),
  );
  fc.assert(
    fc.property(bytes, (message) => {
      try {
        decodeAnswer(Buffer.from(message));
      } catch (error) {
        expect(error).toMatchObject({ name: 'RangeError' });
      }
    }),
    { numRuns: 3_000 },
  );
});

test('Dns-22: the answers of an independent encoder are decoded', () => {
  const label = fc.stringMatching(/^[a-z0-9-]{1,20}$/);
  const name = fc.array(label, { minLength: 1, maxLength: 6 }).map((labels) => labels.join('.'));
  const ttl = fc.integer({ min: 0, max: 0x7fffffff });
  const data = fc.oneof(
    fc.ipV4().map((value) => ({ type: 'A' as const, data: value, value })),
    name.map((value) => ({ type: 'CNAME' as const, data: value, value })),
    name.map((value) => ({ type: 'NS' as const, data: value, value })),
    fc.string({ maxLength: 200 }).map((value) => ({ type: 'TXT' as const, data: value, value })),
    fc
      .tuple(fc.boolean(), fc.stringMatching(/^[a-z]{1,15}$/), fc.stringMatching(/^[!-~]{0,100}$/))
      .map(([isCritical, tag, text]) => ({
        type: 'CAA' as const,
        data: { flags: isCritical ? 128 : 0, tag: tag as 'issue', value: text },
        value: `${isCritical ? 128 : 0} ${tag} "${text}"`,
      })),
  );
  const record = fc
    .tuple(name, ttl, data)
    .map(([at, ttlSeconds, rest]) => ({ name: at, ttlSeconds, ...rest }));
  fc.assert(
    fc.property(fc.array(record, { maxLength: 20 }), (records) => {
      const answers = records.map(({ name: at, ttlSeconds, type, data: content }) => {
        return { name: at, ttl: ttlSeconds, type, data: content } as Answer;
      });
      const message = packet.encode({ type: 'response', id: 1, questions: [{ ...QUESTION }], answers });
      const expected = records.map(({ name: at, ttlSeconds, type, value }) => ({
        name: at,
        ttlSeconds,
        type,
        value,
      }));
      expect(decodeAnswer(message).records).toMatchObject(expected);
    }),
  );
});

test.each<[string, string, (query: Buffer, socket: Socket) => void]>([
  ['announces 64 KB', 'malformed', (_, socket) => socket.write(Buffer.of(0xff, 0xff))],
  ['sends an empty message', 'malformed', (_, socket) => socket.write(Buffer.of(0, 0))],
  [
    'hangs up half-way',
    'unreachable',
    (query, socket) => socket.end(framed(answerHead(query, 0)).subarray(0, 9)),
  ],
  ['answers another question', 'malformed', (_, socket) => socket.write(framed(answerHead(QUERY, 0)))],
  [
    'sends one byte in 50 ms',
    'timeout',
    (query, socket) => {
      const bytes = [...framed(answerHead(query, 0))];
      const timer = setInterval(() => socket.write(Buffer.of(bytes.shift() ?? 0)), 50);
      socket.on('close', () => clearInterval(timer));
    },
  ],
  [
    'sends each byte in a packet of its own',
    'malformed',
    (query, socket) => {
      const bytes = [...framed(answerHead(query, 0))];
      socket.setNoDelay(true);
      const send = () => {
        const byte = bytes.shift();
        if (byte !== undefined) socket.write(Buffer.of(byte), () => setImmediate(send));
      };
      send();
    },
  ],
  [
    'sends its answer ten thousand times',
    'answered',
    (query, socket) => {
      socket.write(Buffer.concat(Array<Buffer>(10_000).fill(framed(answerHead(query, 0)))));
    },
  ],
])('Dns-23: a server that %s over TCP: %s, in time', async (_, reason, hostile) => {
  const dns = await start();
  dns.fault({ hostile });
  const { result, tookMs } = await inOwnTicks(() => reasonOf(ask(dns)));
  expect(result).toBe(reason);
  expect(tookMs).toBeLessThan(600);
});

test('Dns-24: an answer behind the deadline is refused, even if the timer of the deadline is late', async () => {
  const dns = await start();
  expect((await ask(dns, () => 0)).records).toHaveLength(1);
  const clock = { ms: 0 };
  dns.fault({
    hostile: (query, socket) => {
      clock.ms = 400;
      socket.write(framed(answerHead(query, 0)));
    },
  });
  expect(await reasonOf(ask(dns, () => clock.ms))).toBe('timeout');
});

test('Dns-26: a question whose time is over before its turn comes was not asked', async () => {
  const clock = { ms: 0 };
  const asking = reasonOf(ask(await start(), () => clock.ms));
  clock.ms = 400;
  expect(await asking).toBe('not asked');
});

test.each([
  ['address', 40, (index: number) => ({ zone: `z${index}.test`, address: '127.9.9.9' })],
  ['zone', 100, (index: number) => ({ zone: 'z.test', address: `127.9.${index >> 8}.${index & 0xff}` })],
])('Attack-D2: questions to one %s are at most %i a second', async (_, most, target) => {
  const resolver = new Resolver([{ address: '127.0.0.1', port: 9 }], () => NOON_MS);
  const settings = { nameServerPort: 9, privateNameServers: true };
  const nameServers = new NameServers(resolver, settings, () => NOON_MS);
  const asked = Array.from({ length: 1_000 }, (_, index) => {
    const { zone, address } = target(index);
    return reasonOf(nameServers.ask({ name: 'ns', zone, server: { address, port: 9 } }, QUESTION, asker));
  });
  const reasons = await Promise.all(asked);
  expect(reasons.filter((reason) => reason !== 'not asked')).toHaveLength(most);
});
