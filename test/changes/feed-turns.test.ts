import { expect } from '@jest/globals';
import { changesClient, openLog } from '../support/changes/changes.js';
import { FOLLOW, openStream } from '../support/changes/stream-client.js';
import { testOnMysql } from '../support/on-databases.js';
import { startApp, type Tenant } from '../support/start-app.js';

/** Less than the 40 ms between turns: a timer may end early, and a read begins a moment after its turn. */
const BETWEEN_READS_MS = 35;
const WRITES = 40;

testOnMysql(
  'Streams-34: a process reads the new changes of all its projects at most every 40 ms',
  async () => {
    const readsAtMs: number[] = [];
    const onQuery = (sql: string) => {
      if (sql.includes('FROM changes')) readsAtMs.push(performance.now());
    };
    const app = await startApp({ kind: 'mysql', onQuery });
    try {
      const owners = [await app.tenant(), await app.tenant()];
      for (const owner of owners) await openLog(app, owner);
      const follow = ({ token }: Tenant) => openStream(app.url, { token, query: FOLLOW });
      const streams = await Promise.all(owners.map(follow));
      const writeAll = async (owner: Tenant) => {
        const client = changesClient(
          () => app,
          () => owner,
        );
        for (let at = 0; at < WRITES; at += 1) await client.create(`Rex ${at}`);
      };
      await Promise.all(owners.map(writeAll));
      await Promise.all(streams.map((stream) => stream.received(WRITES)));
      for (const stream of streams) stream.close();
      const gaps = readsAtMs.slice(1).map((atMs, before) => atMs - (readsAtMs[before] ?? 0));
      // The two reads of a turn are one statement. A read that finds nothing is repeated if a change was committed meanwhile.
      expect(gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 2)]).toBeGreaterThan(BETWEEN_READS_MS);
    } finally {
      await app.stop();
    }
  },
);

testOnMysql(
  'Streams-35: streams that are behind share statements within their project only, so that many of them delay no other project',
  async () => {
    const readBy: Set<unknown>[] = [];
    const app = await startApp({
      kind: 'mysql',
      onQuery: (sql, parameters) => {
        if (sql.includes('FROM changes')) readBy.push(new Set(ids.filter((id) => parameters.includes(id))));
      },
    });
    const ids: bigint[] = [];
    try {
      const { changes } = app.app.services;
      const owners = [await app.tenant(), await app.tenant()];
      for (const owner of owners) {
        await openLog(app, owner);
        ids.push(owner.projectId);
      }
      const starts = await Promise.all(ids.map((id) => changes.log.newest(id)));
      for (const owner of owners)
        await changesClient(
          () => app,
          () => owner,
        ).create('Rex');
      const followers = await Promise.all(
        Array.from({ length: 40 }, (_, at) =>
          changes.follow(ids[at % 2] as bigint, starts[at % 2] ?? null, ({ noun }) => noun),
        ),
      );
      readBy.length = 0;
      const taken = await Promise.all(followers.map((follower) => follower.take()));
      for (const follower of followers) follower.stop();
      expect(taken).toEqual(followers.map(() => ['toys']));
      expect(readBy.length).toBeGreaterThan(1);
      expect(readBy.filter(({ size }) => size !== 1)).toEqual([]);
    } finally {
      await app.stop();
    }
  },
);
