import { beforeEach, expect, test } from '@jest/globals';
import { createGateway, loadGateway } from '../../src/app/gateway.js';
import type { Chore } from '../../src/ground/kernel/capability.js';
import { NewTable } from '../../src/ground/migrations/table-changes.js';
import { defineNoun } from '../../src/noun/define-noun.js';
import type { CommittedChange } from '../../src/noun/definition/hook.js';
import { int64 } from '../../src/noun/kinds/int64.js';
import { text } from '../../src/noun/kinds/text.js';
import { afterCommitTableOf } from '../../src/noun/tables/after-commit.js';
import { eventually } from '../support/eventually.js';
import { rest } from '../support/http/client.js';
import { books } from '../support/nouns/books.js';
import { onEachDatabase } from '../support/on-databases.js';
import { TEST_ACTOR, type Tenant, type TestApp } from '../support/start-app.js';

interface Job {
  projectId: bigint;
  title: string;
  units: bigint | null;
}
const seen: CommittedChange<Job>[] = [];
let failing: (change: CommittedChange<Job>) => boolean = () => false;
let dying: typeof failing = () => false;
let hang = async () => {};

const jobs = defineNoun({
  name: 'job',
  fields: { title: text({ max: 40 }), units: int64({ optional: true }) },
  changes: true,
  afterCommit: async (change) => {
    seen.push(change);
    if (dying(change)) await hang();
    if (failing(change)) throw new Error('The mail server is away.');
  },
});

const GATEWAY = createGateway({
  name: 'Jobs',
  nouns: [jobs, books],
  migrations: [
    class Jobs1790000000000 extends NewTable {
      table = jobs.table.table;
    },
    class CommittedJobs1790000001000 extends NewTable {
      table = afterCommitTableOf(jobs.model).definition;
    },
  ],
});
const UNITS = 9223372036854775807n;

onEachDatabase(
  (app) => {
    beforeEach(() => {
      choreOf(app());
      seen.length = 0;
      failing = () => false;
      dying = () => false;
      // Failures of another test wait no longer.
      app().clock.now += 3_600_000;
    });
    const logged = async () => {
      const tenant = await app().tenant();
      await app().app.services.projects.change(TEST_ACTOR, tenant.slug, { isLogged: true });
      app().clock.now += 60_000;
      return tenant;
    };
    const send = ({ token }: Tenant, path: string, init = {}) => rest(app().url, path, { token, ...init });
    const create = async (tenant: Tenant, title: string) =>
      String((await send(tenant, '/v1/jobs', { method: 'POST', body: { title } })).body.id);
    const titles = () => seen.map(({ kind, before, after }) => [kind, (after ?? before)?.title]);

    test('AfterCommit-1: each change is given once and in order, with the record before and after', async () => {
      const tenant = await logged();
      const body = `{"title":"A","units":${UNITS}}`;
      const { id } = (await send(tenant, '/v1/jobs', { method: 'POST', body })).body;
      await send(tenant, `/v1/jobs/${id}`, { method: 'PATCH', body: { title: 'B' } });
      await send(tenant, `/v1/jobs/${id}`, { method: 'DELETE' });
      await workOf(app());
      await workOf(app());
      const row = { projectId: tenant.projectId, id: BigInt(id), units: UNITS };
      expect(seen).toMatchObject([
        { kind: 'create', before: null, after: { ...row, title: 'A' } },
        { kind: 'update', before: { ...row, title: 'A' }, after: { ...row, title: 'B' } },
        { kind: 'delete', before: { ...row, title: 'B' }, after: null },
      ]);
      expect(new Set(seen.map(({ key }) => key)).size).toBe(3);
    });

    test('AfterCommit-2: a failed change is given again, later each time, before those behind it; other projects go on', async () => {
      const [one, other] = [await logged(), await logged()];
      for (const tenant of [one, other]) for (const title of ['A', 'B']) await create(tenant, title);
      failing = ({ after }) => after?.projectId === one.projectId && after.title === 'B';
      await expect(workOf(app())).rejects.toThrow('The mail server is away.');
      expect(titles()).toHaveLength(4);
      const ofOne = () => seen.filter(({ after }) => after?.projectId === one.projectId);
      const [, failed] = ofOne();
      // Not yet.
      await workOf(app());
      expect(ofOne()).toHaveLength(2);
      for (const [at, pauseMs] of [2_000, 4_000, 8_000].entries()) {
        app().clock.now += pauseMs - 1;
        const before = ofOne().length;
        await workOf(app());
        expect(ofOne()).toHaveLength(before);
        app().clock.now += 1;
        const where = `project ${one.projectId} at the change ${failed?.key}, failure ${at + 2}`;
        await expect(workOf(app())).rejects.toThrow(`${where}: The mail server is away.`);
        expect(ofOne().at(-1)?.key).toBe(failed?.key);
      }
      await create(one, 'C');
      failing = () => false;
      app().clock.now += 16_000;
      await workOf(app());
      expect(titles().slice(-2)).toEqual([
        ['create', 'B'],
        ['create', 'C'],
      ]);
      expect(seen.filter(({ after }) => after?.projectId === other.projectId)).toHaveLength(2);
    });

    test('AfterCommit-3: of several processes one gives the changes of a project, each once', async () => {
      const tenant = await logged();
      for (let at = 0; at < 20; at += 1) await create(tenant, `${at}`);
      await Promise.all([workOf(app()), workOf(app()), workOf(app())]);
      expect(titles()).toEqual(Array.from({ length: 20 }, (_, at) => ['create', `${at}`]));
    });

    test('AfterCommit-4: after a process that died in a call, another one gives that change again, and goes on', async () => {
      const tenant = await logged();
      for (const title of ['A', 'B', 'C']) await create(tenant, title);
      let die = () => {};
      dying = ({ after }) => after?.title === 'B' && seen.length === 2;
      const death = new Promise<void>((resolve) => {
        die = resolve;
      });
      hang = () => death;
      const dead = workOf(app());
      await eventually('it hangs', () => seen.length === 2);
      // While its lease lasts, no other process gives the change.
      await workOf(app());
      expect(seen).toHaveLength(2);
      app().clock.now += 61_000;
      await workOf(app());
      expect(titles().map(([, title]) => title)).toEqual(['A', 'B', 'B', 'C']);
      expect(seen[2]?.key).toBe(seen[1]?.key);
      die();
      // It has lost its lease, so it stores nothing and gives nothing.
      await dead;
      await workOf(app());
      expect(seen).toHaveLength(4);
    });

    test('AfterCommit-5: changes of other nouns are passed, and a project without a change log gives none', async () => {
      const tenant = await logged();
      const book = { title: 'Emma', pages: 474, priceCents: 1, publishedOn: '1815-12-23' };
      for (let times = 0; times < 3; times += 1)
        await send(tenant, '/v1/books', { method: 'POST', body: book });
      await create(tenant, 'A');
      await create(await app().tenant(), 'not logged');
      await workOf(app());
      await workOf(app());
      expect(titles()).toEqual([['create', 'A']]);
      const [row] = await app().db.execute<{ number: number }>(
        'SELECT number FROM committed_jobs WHERE project_id = ?',
        [tenant.projectId],
      );
      expect(Number(row?.number)).toBe(4);
    });
  },
  { gateway: () => loadGateway(GATEWAY) },
);

test('AfterCommit-6: a noun without a change log cannot have it', () => {
  const define = () => defineNoun({ name: 'job', fields: { title: text({}) }, afterCommit: () => {} });
  expect(define).toThrow('The noun job: afterCommit follows the change log. Give the noun changes: true.');
});

/** The turns of the background work. Only a test takes a turn: the timer of the app could be faster. */
const turns = new WeakMap<Chore, Chore['work']>();
function choreOf({ app }: TestApp): Chore {
  const chores = app.services.capabilities.flatMap((each) => each.chores ?? []);
  const chore = chores.find(({ name }) => name === 'afterCommit of jobs');
  if (!chore) throw new Error('jobs have no background work');
  if (!turns.has(chore)) turns.set(chore, chore.work);
  return Object.assign(chore, { work: async () => {} });
}
const workOf = (app: TestApp) => turns.get(choreOf(app))?.(false);
