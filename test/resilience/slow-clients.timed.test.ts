import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { createTestDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { createTenant, startGateway } from '../support/gateway-process.js';
import { slowness } from '../support/own-time.js';
import { type Habit, ToyLoad } from '../support/toy-load.js';

const CLOSED_WITHIN_MS = 15_000;
const OF_EACH_KIND = 50;
const OTHERS: Habit[] = ['create', 'read', 'read by GraphQL', 'create with key'];

/** The bytes that a slow client sends first, and then repeats. */
interface Slowness {
  first: string;
  again: string;
}

test('Reliability-4: 300 slow or silent clients are closed in 15 s, and other clients are served throughout', async () => {
  const database = await createTestDatabase('sqlite');
  const gateway = await startGateway({ env: { DATABASE_URL: database.url } });
  const token = await createTenant(database.url);
  const post = (path: string, key: string) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer ${key}\r\n`;
  const silence = { first: '', again: '' };
  const kinds: Slowness[] = [
    silence,
    { first: 'GET /v1/toys HTTP/1.1\r\n', again: 'X-A: b\r\n' },
    { first: `${post('/v1/toys', token)}Content-Length: 9000\r\n\r\n{`, again: ' ' },
    { first: `${post('/graphql', token)}Content-Length: 9000\r\n\r\n{`, again: ' ' },
    { first: `${post('/v1/toys', token)}Transfer-Encoding: chunked\r\n\r\n`, again: '1\r\n \r\n' },
    { first: `${post('/v1/toys', 'none')}Content-Length: 9000\r\n\r\n{`, again: ' ' },
  ];
  const pace = await slowness();
  const load = new ToyLoad(gateway.url, token, OTHERS);
  try {
    const slow = await Promise.all(
      kinds.flatMap((kind) => Array.from({ length: OF_EACH_KIND }, () => slowClient(gateway.port, kind))),
    );
    const isClosed = () => slow.every(({ closedAt }) => closedAt() !== null);
    await eventually('all closed', isClosed, CLOSED_WITHIN_MS);
    await load.settle();
    const slowestMs = Math.max(...load.answers.map(({ sentAt, answeredAt }) => answeredAt - sentAt));
    expect(load.failures).toEqual([]);
    expect(load.answers.filter(({ code }) => code !== null)).toEqual([]);
    expect(slowestMs).toBeLessThan(1_000 * Math.max(pace, await slowness()));
    // The client is at fault, so it gets exactly one answer, a 4xx.
    const answers = slow.slice(OF_EACH_KIND).map(({ answer }) => answer().match(/^HTTP\/1\.1 \d{3}/gm));
    expect(answers.filter((found) => found?.length !== 1 || !/ 4\d\d/.test(found[0]))).toEqual([]);
    // A browser that connects ahead would take an answer for that to the request that it sends next.
    const silent = slow.slice(0, OF_EACH_KIND).map(({ answer }) => answer());
    expect(silent.filter((text) => text !== '')).toEqual([]);
    expect(gateway.faults()).toEqual([]);
  } finally {
    load.abandon();
    await gateway.kill('SIGKILL');
    await database.remove();
  }
});

/** Connects a client that sends `again` every 500 ms until the connection closes. */
async function slowClient(port: number, { first, again }: Slowness) {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let answer = '';
  let closedAt: number | null = null;
  const timer = setInterval(() => socket.write(again), 500);
  socket.on('data', (text) => {
    answer += text;
  });
  // These clients write after the server has closed, so errors are expected.
  socket.on('error', () => {});
  socket.on('close', () => {
    closedAt = performance.now();
    clearInterval(timer);
  });
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(first);
  return { answer: () => answer, closedAt: () => closedAt };
}
