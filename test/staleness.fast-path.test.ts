import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { FastPath } from '../src/graphql/fast-path.js';
import { encodeCursor } from '../src/pets/pet-cursor.js';
import { rest } from './support/client.js';
import { operations, persisted, type Request } from './support/staleness/operations.js';
import { type Posted, post } from './support/staleness/post.js';
import { startApp, type TestApp } from './support/start-app.js';

const PETS = 7;
/** The first is Apollo's, the second is compiled, the fourth comes from memory. */
const TIMES = 5;
const FEWEST = 25;

describe('Staleness-6: the fast path answers byte for byte what Apollo answers', () => {
  let running: TestApp;
  let token: string;
  let queries = 0;
  let cursor: string;
  beforeAll(async () => {
    running = await startApp({ onQuery: (sql) => (queries += Number(/ FROM pets /.test(sql))) });
    token = (await running.tenant()).token;
    for (let made = 1; made <= PETS; made += 1) {
      const status = made % 3 ? {} : { status: 'sold' };
      const body = { name: `pet "${made}" \u2028 é`, categoryId: made, ...status };
      const { body: pet } = await rest(running.url, '/v1/pets', { method: 'POST', token, body });
      if (made === 3) cursor = encodeCursor(BigInt(pet.id));
    }
  });
  afterAll(() => running.stop());

  /** Asks everything while there is no fast path, then everything several times. */
  async function compare(requests: readonly Request[]): Promise<{ fast: number; fromMemory: number }> {
    const answering = jest.spyOn(FastPath.prototype, 'answer').mockResolvedValue(null);
    const ofApollo: Posted[] = [];
    for (const request of requests) ofApollo.push(await post(running.url, token, request));
    answering.mockRestore();
    const watching = jest.spyOn(FastPath.prototype, 'answer');
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

  test('for persisted queries', async () => {
    const { registration, requests } = persisted();
    await post(running.url, token, registration);
    const { fromMemory } = await compare(requests);
    expect(fromMemory).toBeGreaterThanOrEqual(3);
  });
});
