import { describe, expect, test } from '@jest/globals';
import { Database } from '../../src/ground/database/database.js';
import type { Scope } from '../../src/ground/kernel/caller.js';
import { VERSION_MS } from '../../src/ground/kernel/data-versions.js';
import { callAs } from '../support/call-as.js';
import { anyDatabase, databaseKinds } from '../support/databases.js';
import { DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';
import { graphql, rest } from '../support/http/client.js';
import { isLongRun } from '../support/long-run.js';
import { serviceOf } from '../support/nouns/services.js';
import { Toy } from '../support/nouns/toys.js';
import { StalenessLoad } from '../support/staleness/load.js';
import { report } from '../support/staleness/report.js';
import { violationsOf } from '../support/staleness/violations.js';
import { startApp, TEST_ACTOR, type Tenant, type TestApp } from '../support/start-app.js';

const OPERATIONS = isLongRun ? 3_000 : 1_000;
const AT_ONCE = 50;
const OPERATION = '{ toys(first: 50) { nodes { id name } } }';
/** A statement may hold several lists. */
const LIST = /SELECT (?:(?!SELECT).)* FROM toys WHERE/g;

interface Door {
  door: string;
  /** The status, and the names of the toys or the code of the error. */
  ask(url: string, token: string): Promise<{ status: number; names?: string[]; code?: string }>;
}

const DOORS: Door[] = [
  {
    door: 'REST',
    ask: async (url, token) => {
      const { status, body } = await rest(url, '/v1/toys?limit=50', { token });
      return status === 200 ? { status, names: namesOf(body) } : { status, code: body.code };
    },
  },
  {
    door: 'GraphQL',
    ask: async (url, token) => {
      const { status, body } = await graphql(url, OPERATION, { token });
      const [error] = body.errors ?? [];
      return error
        ? { status, code: error.extensions.code.toLowerCase() }
        : { status, names: namesOf(body.data.toys.nodes) };
    },
  },
];

describe.each(databaseKinds())('on %s', (kind) => {
  test('Staleness-2: with one process every read returns the latest write acknowledged before it began', async () => {
    let lists = 0;
    const running = await startApp({ kind, onQuery: (sql) => (lists += sql.match(LIST)?.length ?? 0) });
    try {
      // The test clock stands still otherwise, and no version would expire.
      const ticking = setInterval(() => (running.clock.now = Date.now()), 5);
      const target = { name: 'the process', url: running.url, isUp: true };
      const load = new StalenessLoad([target], async () => (await running.tenant()).token);
      await load.run(() => load.operations >= OPERATIONS).finally(() => clearInterval(ticking));
      const found = load.histories.flatMap((history) =>
        violationsOf(history).map((violation) => ({ history, violation })),
      );
      expect(report(found, [])).toBe('');
      expect(load.counts).toMatchObject({ unacknowledged: 0, refused: 0, failed: 0 });
      expect(lists).toBeLessThan(load.counts.reads / 2);
    } finally {
      await running.stop();
    }
  });
});

describe.each(DOORS)('at $door', ({ ask }) => {
  const asked = (running: TestApp, { token }: Tenant) => ask(running.url, token);

  /** Repeats the request until it is answered from memory. */
  async function warm(running: TestApp, tenant: Tenant): Promise<void> {
    for (let times = 0; times < 5; times += 1) expect((await asked(running, tenant)).status).toBe(200);
  }

  async function started(work: (running: TestApp, sent: string[], fail: { next: boolean }) => Promise<void>) {
    const sent: string[] = [];
    const fail = { next: false };
    const running = await startApp({
      kind: anyDatabase(),
      onQuery: (sql) => {
        if (!sql.match(LIST)) return;
        sent.push(sql);
        if (fail.next) throw Object.assign(new Error('lost'), { code: 'ECONNRESET', fatal: true });
      },
    });
    await work(running, sent, fail).finally(() => running.stop());
  }

  test(`Staleness-3: a write that was not announced is seen after ${VERSION_MS} ms`, () =>
    started(async (running) => {
      const tenant = await running.tenant();
      await serviceOf(running).create(...toyOf(tenant, 'announced'));
      await warm(running, tenant);
      const other = await Database.open(running.config.database, DATABASE_SCHEMA);
      await other.repository(Toy).insert({
        projectId: tenant.projectId,
        id: 9n,
        name: 'silent',
        categoryId: 1n,
        status: null,
        createdAtMs: 1,
      });
      await other.close();
      // The missing toy shows that the next answer comes from memory.
      expect(await asked(running, tenant)).toEqual({ status: 200, names: ['announced'] });
      running.clock.now += VERSION_MS;
      expect(await asked(running, tenant)).toEqual({ status: 200, names: ['silent', 'announced'] });
    }));

  test('Staleness-4: projects share no answer, and a key without the scope is refused an answer that is cached for another key', () =>
    started(async (running, sent) => {
      const tenants = [await running.tenant(), await running.tenant()] as const;
      for (const tenant of tenants) await serviceOf(running).create(...toyOf(tenant, tenant.slug));
      for (const tenant of tenants) await warm(running, tenant);
      const before = sent.length;
      for (const tenant of tenants)
        expect(await asked(running, tenant)).toEqual({ status: 200, names: [tenant.slug] });
      expect(sent.length).toBe(before);
      const keyWith = async (scopes: Scope[]) => {
        const wanted = { projectId: tenants[0].projectId, name: 'x', scopes, expiresAtMs: null };
        return {
          ...tenants[0],
          token: (await running.app.services.apiKeys.create(TEST_ACTOR, wanted)).token,
        };
      };
      const writer = await keyWith(['toys:write']);
      const forbidden = await asked(running, writer);
      expect(forbidden.code).toBe('forbidden');
      expect(await asked(running, await keyWith(['toys:read']))).toEqual({
        status: 200,
        names: [tenants[0].slug],
      });
      expect(sent.length).toBe(before + 1);
      for (let times = 0; times < 5; times += 1) expect(await asked(running, writer)).toEqual(forbidden);
    }));

  test(`Staleness-5: ${AT_ONCE} simultaneous equal requests are one query`, () =>
    started(async (running, sent) => {
      const tenant = await running.tenant();
      await serviceOf(running).create(...toyOf(tenant, 'one'));
      await warm(running, tenant);
      running.clock.now += VERSION_MS;
      const before = sent.length;
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => asked(running, tenant)));
      for (const answer of answers) expect(answer).toEqual({ status: 200, names: ['one'] });
      expect(sent.length).toBe(before + 1);
    }));

  test('Staleness-8: when that query fails, each of them is refused, and the next request is answered', () =>
    started(async (running, _, fail) => {
      const tenant = await running.tenant();
      await serviceOf(running).create(...toyOf(tenant, 'one'));
      await warm(running, tenant);
      running.clock.now += VERSION_MS;
      fail.next = true;
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => asked(running, tenant)));
      for (const answer of answers) expect(answer).toEqual({ status: 503, code: 'unavailable' });
      fail.next = false;
      expect(await asked(running, tenant)).toEqual({ status: 200, names: ['one'] });
    }));
});

function toyOf(tenant: Tenant, name: string) {
  return [callAs(tenant), { name, categoryId: 1n, status: null }] as const;
}

function namesOf(toys: { name: string }[]): string[] {
  return toys.map(({ name }) => name);
}
