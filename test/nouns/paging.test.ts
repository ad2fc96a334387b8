import { describe, expect, test } from '@jest/globals';
import {
  accepted,
  type Door,
  doorsOf,
  type ListQuery,
  type SharedPage,
} from '../support/nouns/noun-doors.js';
import { onEachNoun } from '../support/nouns/on-nouns.js';
import type { Tenant } from '../support/start-app.js';

const WRITERS = 10;
const SIZE = 10;

onEachNoun((noun, names, app) => {
  const doors = doorsOf(noun, names, () => app().url);
  const {
    field,
    values: [choice],
  } = noun.filter;

  /** Ten clients create records of the choice through both doors, each one after the other, until `stop`. */
  async function startWriters({ token }: Tenant) {
    const acknowledged: string[] = [];
    let isStopped = false;
    const create = async (door: Door, n: number) => {
      acknowledged.push(accepted(await door.create(token, { ...noun.input(n), [field]: choice })).id);
      app().clock.now += 1;
    };
    const clients = Array.from({ length: WRITERS }, (_, at) => (at % 2 === 0 ? doors.rest : doors.graphql));
    for (let n = 0; n < 3; n += 1) await Promise.all(clients.map((door) => create(door, n)));
    const running = clients.map(async (door) => {
      for (let n = 0; !isStopped; n += 1) await create(door, n);
    });
    const stop = () => {
      isStopped = true;
      return Promise.all(running);
    };
    return { acknowledged, stop };
  }

  describe.each(Object.entries(doors))('through %s', (name, door) => {
    const hasNewest = name === 'graphql';
    const lists: ListQuery[] = [{}, hasNewest ? { choice, isNewestFirst: true } : { choice }];

    test.each(lists)(
      'Listing-8: while ten clients create records, the pages have each acknowledged one exactly once: %j',
      async (list) => {
        const tenant = await app().tenant();
        const { acknowledged, stop } = await startWriters(tenant);
        const before = [...acknowledged];
        const seen: string[] = [];
        for (let query: ListQuery | null = { ...list, size: SIZE }; query; ) {
          const { records, next }: SharedPage = accepted(await door.list(tenant.token, query));
          seen.push(...records.map(({ id }) => id));
          // Otherwise the oldest first would never end.
          if (before.every((id) => seen.includes(id))) await stop();
          query = next === null ? null : { ...list, size: SIZE, cursor: next };
        }
        await stop();
        expect(before.filter((id) => !seen.includes(id))).toEqual([]);
        expect(new Set(seen).size).toBe(seen.length);
      },
    );
  });
});
