import { existsSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/ground/config/config.js';
import { pendingMigrations } from '../../src/ground/migrating/migration-plan.js';
import { petstoreHere } from '../support/command-line.js';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../support/databases.js';
import { DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';

const NEWEST = DATABASE_SCHEMA.migrations.slice(-2).map(({ name }) => name);

describe.each(databaseKinds())('on %s', (kind) => {
  let database: TestDatabase;
  let copy: TestDatabase;
  beforeEach(async () => {
    [database, copy] = await Promise.all([createTestDatabase(kind), createTestDatabase(kind)]);
  });
  afterEach(() => Promise.all([database.remove(), copy.remove()]));

  const run = (databaseUrl: string, ...args: string[]) =>
    petstoreHere(['migrate', ...args, '--json'], { databaseUrl });
  const namesOf = (pending: { name: string }[]) => pending.map(({ name }) => name);

  test('Plan-1: names what would run, and what waits for it, and runs nothing', async () => {
    const all = await run(database.url, '--plan');
    expect(all.code).toBe(0);
    expect(namesOf(all.json.pending)).toEqual(DATABASE_SCHEMA.migrations.map(({ name }) => name));
    if (kind === 'sqlite') expect(existsSync(database.url.slice('sqlite:'.length))).toBe(false);

    await run(database.url);
    expect((await run(database.url, '--plan')).json).toEqual({ pending: [] });
    for (const _ of NEWEST) await run(database.url, '--revert');
    for (const _ of [1, 2]) {
      const { json } = await run(database.url, '--plan');
      // A longer column needs a new table on SQLite alone.
      const ofScopes = kind === 'sqlite' ? 'Writes to api_keys wait while the table is built again.' : null;
      expect(json.pending).toEqual([
        { name: NEWEST[0], locks: null, seconds: null },
        { name: NEWEST[1], locks: ofScopes, seconds: null },
      ]);
    }
    const told = await petstoreHere(['migrate', '--plan'], { databaseUrl: database.url });
    expect(told.stdout).toContain('2 migrations are pending. None was run.');
  });

  test('Plan-2: --copy runs the plan on a copy and tells how long it took', async () => {
    for (const { url } of [database, copy]) await run(url);
    for (const { url } of [database, copy]) for (const _ of NEWEST) await run(url, '--revert');
    const { code, json } = await run(database.url, '--plan', '--copy', copy.url);
    expect(code).toBe(0);
    expect(namesOf(json.pending)).toEqual(NEWEST);
    for (const { seconds } of json.pending) expect(seconds).toBeGreaterThan(0);
    expect((await run(copy.url, '--plan')).json.pending).toEqual([]);
    expect(namesOf((await run(database.url, '--plan')).json.pending)).toEqual(NEWEST);

    expect(await run(database.url, '--plan', '--copy', await otherNameOf(database.url))).toMatchObject({
      code: 2,
    });

    const another = await run(database.url, '--plan', '--copy', copy.url);
    expect(another).toMatchObject({ code: 1, json: { error: { code: 'conflict' } } });
    for (const wrong of [
      ['--plan', '--copy', database.url],
      ['--plan', '--revert'],
      ['--copy', copy.url],
    ]) {
      expect(await run(database.url, ...wrong)).toMatchObject({ code: 2 });
    }
    expect(namesOf((await run(database.url, '--plan')).json.pending)).toEqual(NEWEST);
  });
});

/** Another URL of the same database. */
async function otherNameOf(url: string): Promise<string> {
  if (!url.startsWith('sqlite:')) return url.replace('127.0.0.1', 'localhost');
  const path = url.slice('sqlite:'.length);
  await symlink(path, `${path}-link`);
  return `${url}-link`;
}

test('Plan-3: every migration says what waits for it, in a sentence', async () => {
  class Copies1790000000000 {
    name = 'Copies1790000000000';
    locks = { mysql: 'Writes to toys wait while the table is copied.', sqlite: 'Writes wait.' };
    async up() {}
    async down() {}
  }
  const database = await createTestDatabase('sqlite');
  const { database: target } = loadConfig({ DATABASE_URL: database.url });
  const schema = { ...DATABASE_SCHEMA, migrations: [Copies1790000000000] };
  expect(await pendingMigrations(target, schema)).toEqual([
    { name: 'Copies1790000000000', locks: 'Writes wait.' },
  ]);
  await database.remove();
  for (const Migration of [...DATABASE_SCHEMA.migrations, Copies1790000000000]) {
    const { mysql, sqlite } = new Migration().locks;
    for (const text of [mysql, sqlite]) expect(text ?? 'Nothing waits.').toMatch(/^[A-Z].*\bwait.*\.$/);
  }
});
