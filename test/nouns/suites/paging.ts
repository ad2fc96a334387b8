import { describe, expect, test } from '@jest/globals';
import {
  accepted,
  type Door,
  doorsOf,
  type ListQuery,
  type SharedPage,
} from '../../support/nouns/noun-doors.js';
import type { Tenant } from '../../support/start-app.js';
import type { Suite } from '../suites.js';

const WRITERS = 10;
const SIZE = 10;

export const paging: Suite = (noun, names, app, fresh) => {
  const doors = doorsOf(noun, names, () => app().url);
  const {
    field,
    values: [choice],
  } = noun.filter;

  /** Ten clients create records of the choice through both doors, each one after the other, until `stop`. */
  async function startWriters({ token }: Tenant) {
    const acknowledged: string[] = [];
    let isStopped = false;
    const create = async (door: Door) => {
      acknowledged.push(accepted(await door.create(token, { ...fresh(), [field]: choice })).id);
      app().clock.now += 1;
    };
    const clients = Array.from({ length: WRITERS }, (_, at) => (at % 2 === 0 ? doors.rest : doors.graphql));
    for (let n = 0; n < 3; n += 1) await Promise.all(clients.map(create));
    const running = clients.map(async (door) => {
      while (!isStopped) await create(door);
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
};
