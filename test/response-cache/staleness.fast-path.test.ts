import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createConnection } from 'mysql2/promise';
import { KnownOperations } from '../../src/doors/graphql/known-operations.js';
import { databaseKinds } from '../support/databases.js';
import { graphql, rest } from '../support/http/client.js';
import { listOperations } from '../support/staleness/list-operations.js';
import { operations, persisted, type Request } from '../support/staleness/operations.js';
import { type Posted, post } from '../support/staleness/post.js';
import { startApp, type TestApp } from '../support/start-app.js';

const TOYS = 7;
/** The first answer is Apollo's, the second is compiled, the fourth comes from memory. */
const TIMES = 5;
const FEWEST = 25;

describe('Staleness-6: the fast path answers byte for byte like Apollo', () => {
  let running: TestApp;
  let token: string;
  let queries = 0;
  let cursor: string;
  const ids: string[] = [];
  beforeAll(async () => {
    running = await startApp({ onQuery: (sql) => (queries += Number(/ FROM toys /.test(sql))) });
    token = (await running.tenant()).token;
    for (let made = 1; made <= TOYS; made += 1) {
      const status = made % 3 ? {} : { status: 'sold' };
      const body = { name: `toy "${made}" \u2028 é`, categoryId: made, ...status };
      const { body: toy } = await rest(running.url, '/v1/toys', { method: 'POST', token, body });
      ids.push(String(toy.id));
    }
    cursor = await endCursorOf('');
  });
  afterAll(() => running.stop());

  async function endCursorOf(args: string): Promise<string> {
    const { body } = await graphql(running.url, `{ toys(first: 3 ${args}) { pageInfo { endCursor } } }`, {
      token,
    });
    return body.data.toys.pageInfo.endCursor;
  }

  /** Sends every request once without the fast path, then several times with it, and compares the answers. */
  async function compare(requests: readonly Request[]): Promise<{ fast: number; fromMemory: number }> {
    const answering = jest.spyOn(KnownOperations.prototype, 'answer').mockResolvedValue(null);
    const ofApollo: Posted[] = [];
    for (const request of requests) ofApollo.push(await post(running.url, token, request));
    answering.mockRestore();
    const watching = jest.spyOn(KnownOperations.prototype, 'answer');
    const differences: { what: string; [other: string]: unknown }[] = [];
    const counts = { fast: 0, fromMemory: 0 };
    for (const [index, request] of requests.entries()) {
      for (let time = 1; time <= TIMES; time += 1) {
        const before = queries;
        const answer = await post(running.url, token, request);
        const { value } = watching.mock.results.at(-1) ?? {};
        const isFast = Boolean(await Promise.resolve(value as Promise<unknown>).catch(() => null));
        if (time === TIMES && isFast) counts.fast += 1;
        if (time === TIMES && isFast && queries === before) counts.fromMemory += 1;
        const apollo = ofApollo[index];
        const isSame = JSON.stringify(answer) === JSON.stringify(apollo);
        const isKnown = differences.some(({ what }) => what === request.what);
        if (!isSame && !isKnown) differences.push({ what: request.what, time, isFast, answer, apollo });
        watching.mockClear();
      }
    }
    watching.mockRestore();
    expect(differences).toEqual([]);
    return counts;
  }

  test('for operations, variables, bodies and accepted types of all kinds', async () => {
    const { fast, fromMemory } = await compare(operations(cursor));
    expect(fast).toBeGreaterThanOrEqual(FEWEST);
    expect(fromMemory).toBeGreaterThanOrEqual(FEWEST);
  });

  test('for lists of all orders and filters', async () => {
    const [a = '', b = ''] = [ids[1], ids[4]];
    const newest = await endCursorOf('orderBy: NEWEST');
    const named = await endCursorOf('nameStartsWith: "toy"');
    const { fast, fromMemory } = await compare(listOperations({ newest, named, ids: [a, b] }));
    expect(fast).toBeGreaterThanOrEqual(FEWEST);
    expect(fromMemory).toBeGreaterThanOrEqual(FEWEST);
  });

  test('for persisted queries', async () => {
    const { registration, requests } = persisted();
    await post(running.url, token, registration);
    const { fromMemory } = await compare(requests);
    expect(fromMemory).toBeGreaterThanOrEqual(3);
  });
});

test('FastPath-1: only a POST is answered from memory', async () => {
  const running = await startApp();
  try {
    const { token } = await running.tenant();
    const body = JSON.stringify({ query: '{ toys { nodes { id } } }' });
    const statuses: number[] = [];
    for (const method of ['POST', 'POST', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
      const { status } = await fetch(`${running.url}/graphql`, { method, headers, body });
      statuses.push(status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 405, 405, 405]);
  } finally {
    await running.stop();
  }
});

test('FastPath-5: a cached response makes no promise, through either door', async () => {
  const running = await startApp();
  const socket = connect(Number(new URL(running.url).port), '127.0.0.1');
  try {
    const { token } = await running.tenant();
    await once(socket, 'connect');
    const headers = `Host: localhost\r\nAuthorization: Bearer ${token}\r\n`;
    const body = JSON.stringify({ query: '{ toys { nodes { id } } }' });
    const ofBody = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
    const requests = [
      `GET /v1/toys HTTP/1.1\r\n${headers}\r\n`,
      `POST /graphql HTTP/1.1\r\n${headers}${ofBody}\r\n${body}`,
    ];
    for (const request of requests) {
      const made: number[] = [];
      for (let time = 0; time < 2 * TIMES; time += 1) made.push(await promisesUntilAnswer(socket, request));
      // A timer of the gateway may have made others.
      expect(Math.min(...made)).toBe(0);
    }
  } finally {
    socket.destroy();
    await running.stop();
  }
});

/** How many promises this process makes from the request to its response, which arrives in one piece. D-195. */
function promisesUntilAnswer(socket: Socket, request: string): Promise<number> {
  return new Promise((resolve) => {
    let made = 0;
    const counting = createHook({
      init(_, type) {
        if (type === 'PROMISE') made += 1;
      },
    });
    socket.once('data', () => {
      counting.disable();
      resolve(made);
    });
    // By then the caller has made the promise that it waits with.
    setImmediate(() => {
      counting.enable();
      socket.write(request);
    });
  });
}

// Locks a table, which SQLite has not: a run without MySQL has no such test.
for (const kind of databaseKinds().filter((name) => name === 'mysql')) {
  test('FastPath-2: requests that share an in-flight read also share its failure, and are answered in time', async () => {
    const running = await startApp({ kind });
    const { database } = running.config;
    if (database.kind === 'sqlite') throw new Error('tables are locked on MySQL');
    const locker = await createConnection(database.url);
    try {
      const { token } = await running.tenant();
      const list = { what: 'a list', body: JSON.stringify({ query: '{ toys { nodes { id } } }' }) };
      for (let time = 0; time < 3; time += 1) await post(running.url, token, list);
      // After a write nothing is cached.
      await rest(running.url, '/v1/toys', { method: 'POST', token, body: { name: 'Rex', categoryId: 1 } });
      await locker.query('LOCK TABLES toys WRITE');
      const answers = await Promise.all(Array.from({ length: 20 }, () => post(running.url, token, list)));
      const said = answers.map(({ status, body }) => [status, JSON.parse(body).errors[0].message]);
      expect(new Set(said.map(String)).size).toBe(1);
      expect(said[0]).toEqual([503, expect.not.stringContaining('took too long')]);
    } finally {
      await locker.end();
      await running.stop();
    }
  });
}
