import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { createTestDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { createTenant, startGateway } from '../support/gateway-process.js';
import { slowness } from '../support/own-time.js';
import { type Habit, PetLoad } from '../support/pet-load.js';

const CLOSED_WITHIN_MS = 15_000;
const OF_EACH_KIND = 50;
const OTHERS: Habit[] = ['create', 'read', 'read by GraphQL', 'create with key'];

/** What a slow client sends at once, and then again and again. */
interface Slowness {
  first: string;
  again: string;
}

test('Reliability-4: 300 slow or silent clients are closed in 15 s, and the others are served throughout', async () => {
  const database = await createTestDatabase('sqlite');
  const gateway = await startGateway({ env: { DATABASE_URL: database.url } });
  const token = await createTenant(database.url);
  const post = (path: string, key: string) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer ${key}\r\n`;
  const kinds: Slowness[] = [
    { first: '', again: '' },
    { first: 'GET /v1/pets HTTP/1.1\r\n', again: 'X-A: b\r\n' },
    { first: `${post('/v1/pets', token)}Content-Length: 9000\r\n\r\n{`, again: ' ' },
    { first: `${post('/graphql', token)}Content-Length: 9000\r\n\r\n{`, again: ' ' },
    { first: `${post('/v1/pets', token)}Transfer-Encoding: chunked\r\n\r\n`, again: '1\r\n \r\n' },
    { first: `${post('/v1/pets', 'none')}Content-Length: 9000\r\n\r\n{`, again: ' ' },
  ];
  const pace = await slowness();
  const load = new PetLoad(gateway.url, token, OTHERS);
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
    // The fault is the client's, and the connection that is closed gets no answer that nobody asked for.
    const answers = slow.map(({ answer }) => answer().match(/^HTTP\/1\.1 \d{3}/gm));
    expect(answers.filter((found) => found?.length !== 1 || !/ 4\d\d/.test(found[0]))).toEqual([]);
    expect(gateway.faults()).toEqual([]);
  } finally {
    load.abandon();
    await gateway.kill('SIGKILL');
    await database.remove();
  }
});

/** Resolves when it is connected. It goes on, a few bytes at a time, as long as it is let. */
async function slowClient(port: number, { first, again }: Slowness) {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let answer = '';
  let closedAt: number | null = null;
  const timer = setInterval(() => socket.write(again), 500);
  socket.on('data', (text) => {
    answer += text;
  });
  // A write after the server has closed is what these clients do.
  socket.on('error', () => {});
  socket.on('close', () => {
    closedAt = performance.now();
    clearInterval(timer);
  });
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(first);
  return { answer: () => answer, closedAt: () => closedAt };
}
