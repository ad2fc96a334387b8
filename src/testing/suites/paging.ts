import assert from 'node:assert/strict';
import { accepted, type Door, type ListQuery, type SharedPage } from '../noun-doors.js';
import type { Tenant } from '../tested-app.js';
import type { Suite } from './suite.js';

const WRITERS = 10;
const SIZE = 10;

export const paging: Suite = ({ noun, doors, app, fresh, describe, test }) => {
  const { filter } = noun;

  /** Ten clients create records of the choice through both doors, each one after the other, until `stop`. */
  async function startWriters({ token }: Tenant) {
    const acknowledged: string[] = [];
    let isStopped = false;
    const create = async (door: Door) => {
      acknowledged.push(accepted(await door.create(token, { ...fresh(), ...noun.chosen(0) })).id);
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

  for (const [name, door] of Object.entries(doors))
    describe(`through ${name}`, () => {
      const hasNewest = name === 'graphql';
      const wanted = {
        ...(filter && { choice: filter.values[0] }),
        ...(hasNewest && { isNewestFirst: true }),
      };
      const lists: ListQuery[] = [{}, ...(Object.keys(wanted).length > 0 ? [wanted] : [])];

      for (const list of lists) {
        test(`Listing-8: while ten clients create records, the pages have each acknowledged one exactly once: ${JSON.stringify(list)}`, async () => {
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
          assert.deepEqual(
            before.filter((id) => !seen.includes(id)),
            [],
          );
          assert.equal(new Set(seen).size, seen.length);
        });
      }
    });
};
