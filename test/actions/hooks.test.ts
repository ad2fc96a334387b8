import { beforeEach, expect, test } from '@jest/globals';
import { Table } from 'typeorm';
import { createGateway, loadGateway } from '../../src/app/gateway.js';
import { exactCollation, NewTables } from '../../src/ground/migrations/tables.js';
import { defineNoun } from '../../src/noun/define-noun.js';
import { refuse } from '../../src/noun/definition/action.js';
import { boolean } from '../../src/noun/kinds/boolean.js';
import { dateTime } from '../../src/noun/kinds/date-time.js';
import { text } from '../../src/noun/kinds/text.js';
import { graphql, rest } from '../support/http/client.js';
import { onEachDatabase } from '../support/on-databases.js';
import type { Tenant } from '../support/start-app.js';

const tasks = defineNoun({
  name: 'task',
  fields: {
    title: text({ max: 40 }),
    slug: text({ max: 20, optional: true, immutable: true }),
    isDone: boolean({ default: false }),
    doneAt: dateTime({ optional: true }),
  },
  check: ({ slug }) => (slug === 'nothing' ? [{ field: 'title', message: 'must be about something' }] : []),
  actions: (action) => ({ finish: action({ run: () => ({ isDone: true }) }) }),
  beforeWrite({ kind, before, after, now }) {
    if (kind === 'create') {
      if (after.title === 'Refused') refuse('Not this one.');
      if (after.title === 'Promise') return Promise.resolve({}) as never;
      return { slug: after.title.toLowerCase(), ...(after.isDone && { doneAt: now }) };
    }
    if (before.isDone) refuse(`The task ${before.slug} is done.`);
    if (kind === 'delete' && before.title === 'Kept') refuse('This one is kept.');
    return after?.isDone ? { doneAt: now } : undefined;
  },
  migrations: async () => [Tasks1790000000005],
});
class Tasks1790000000005 extends NewTables {
  protected readonly tables = [new Table(tasks.table.table)];
  protected override readonly collation = exactCollation;
}

test('Hook-1: an asynchronous beforeWrite is refused at once', () => {
  const beforeWrite = (async () => ({})) as never;
  expect(() => defineNoun({ name: 'task', fields: { title: text({}) }, beforeWrite })).toThrow(
    'The noun task: beforeWrite is an async function. It runs within a transaction',
  );
});

onEachDatabase(
  (app) => {
    let tenant: Tenant;
    beforeEach(async () => {
      tenant = await app().tenant();
    });
    const send = (path: string, method: string, body?: unknown, headers: Record<string, string> = {}) =>
      rest(app().url, `/v1/tasks${path}`, {
        token: tenant.token,
        method,
        headers,
        ...(body !== undefined && { body }),
      });
    const nowText = () => new Date(app().clock.now).toISOString();
    const created = async (title: string) => (await send('', 'POST', { title })).body;

    test('Hook-2: beforeWrite adds fields to creations, changes and actions, through both APIs', async () => {
      const first = await created('Read');
      expect(first).toMatchObject({ title: 'Read', slug: 'read', isDone: false });
      const create = 'createTasks(inputs: [{title: "A"}, {title: "B", isDone: true}]) { slug doneAt }';
      const headers = { 'idempotency-key': 'all' };
      const all = () => graphql(app().url, `mutation { ${create} }`, { token: tenant.token, headers });
      const answer = [
        { slug: 'a', doneAt: null },
        { slug: 'b', doneAt: nowText() },
      ];
      expect((await all()).body.data.createTasks).toEqual(answer);
      app().clock.now += 1_000;
      expect((await all()).body.data.createTasks).toEqual(answer);
      const patched = await send(`/${first.id}`, 'PATCH', { isDone: true });
      expect(patched.body).toMatchObject({ isDone: true, doneAt: nowText(), slug: 'read' });
      const second = await created('Write');
      expect((await send(`/${second.id}/finish`, 'POST')).body).toMatchObject({
        isDone: true,
        doneAt: nowText(),
      });
    });

    test('Hook-3: what beforeWrite refuses is not done, and the rules hold for what it adds', async () => {
      const { id } = await created('Kept');
      expect(await send(`/${id}`, 'DELETE')).toMatchObject({
        status: 409,
        body: { message: 'This one is kept.' },
      });
      const done = await created('Read');
      await send(`/${done.id}/finish`, 'POST');
      const refused = { status: 409, body: { code: 'conflict', message: 'The task read is done.' } };
      expect(await send(`/${done.id}`, 'PATCH', { title: 'Changed' })).toMatchObject(refused);
      expect(await send(`/${done.id}/finish`, 'POST')).toMatchObject(refused);
      expect(await send(`/${done.id}`, 'DELETE')).toMatchObject(refused);
      expect((await send(`/${done.id}`, 'GET')).body.title).toBe('Read');
      const long = await send('', 'POST', { title: 'x'.repeat(21) });
      expect([long.status, long.body.errors[0].field]).toEqual([400, 'slug']);
      const checked = await send('', 'POST', { title: 'Nothing' });
      expect([checked.status, checked.body.errors[0].field]).toEqual([400, 'title']);
      expect((await send('', 'POST', { title: 'Promise' })).status).toBe(500);
      const remaining = await send('', 'GET');
      expect(remaining.body.map(({ title }: { title: string }) => title)).toEqual(['Kept', 'Read']);
      const other = await created('Gone');
      expect((await send(`/${other.id}`, 'DELETE')).status).toBe(204);
      expect((await send('/1', 'DELETE')).status).toBe(404);
    });

    test('Hook-4: beforeWrite sees each row of an import, and refuses a row alone', () => {
      const [noun] = app().app.services.nouns;
      expect(noun?.files.parse({ title: 'Read' })).toEqual({
        ...{ title: 'Read', slug: 'read', isDone: false, doneAt: null },
      });
      expect(() => noun?.files.parse({ title: 'Refused' })).toThrow('row Not this one.');
      expect(() => noun?.files.parse({ title: 'Nothing' })).toThrow('title must be about something');
    });
  },
  { gateway: () => loadGateway(createGateway({ name: 'Tasks', nouns: [tasks] })) },
);
