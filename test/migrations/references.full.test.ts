import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createGateway, loadGateway } from '../../src/app/gateway.js';
import { loadConfig } from '../../src/ground/config/config.js';
import type { DatabaseSchema } from '../../src/ground/database/data-source.js';
import { revertLastMigration } from '../../src/ground/migrating/migrate.js';
import { writeMigrations } from '../../src/ground/migrations/files/write.js';
import { NewTable } from '../../src/ground/migrations/table-changes.js';
import { defineNoun } from '../../src/noun/define-noun.js';
import { int64 } from '../../src/noun/kinds/int64.js';
import type { Fields } from '../../src/noun/kinds/kind.js';
import { reference } from '../../src/noun/kinds/reference.js';
import { text } from '../../src/noun/kinds/text.js';
import { startTestedApp, type Tenant, type TestApp } from '../../src/testing/tested-app.js';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../support/databases.js';
import { rest } from '../support/http/client.js';
import { schemaOf } from '../support/written-schema.js';

const title = text({ max: 20 });
const OPTIONAL = { optional: true, filter: true } as const;

let versions = 0;
/** Books with these fields beside a title. A process knows each type of GraphQL by its name. */
function booksWith(fields: Fields) {
  versions += 1;
  return defineNoun({ name: 'book', type: `Book${versions}`, fields: { title, ...fields } });
}

const books = {
  plain: booksWith({}),
  counted: booksWith({ shelfId: int64({ optional: true, filter: true }) }),
  unset: booksWith({ shelfId: reference('shelf', { ...OPTIONAL, mustExist: true, onDelete: 'unset' }) }),
  refuse: booksWith({ shelfId: reference('shelf', { ...OPTIONAL, mustExist: true, onDelete: 'refuse' }) }),
  bare: booksWith({ shelfId: reference('shelf', { optional: true }) }),
};
type Version = keyof typeof books;
const tableOf = (version: Version) => books[version].table.table;

describe.each(databaseKinds())('on %s', (kind) => {
  let database: TestDatabase;
  let tenant: Tenant | null;
  beforeEach(async () => {
    database = await createTestDatabase(kind);
    tenant = null;
  });
  afterEach(() => database.remove());

  /** The gateway with this version of books, whose migrations are those of the versions that lead to it. */
  async function serving(
    version: Version,
    { migrations }: Pick<DatabaseSchema, 'migrations'>,
    work: (send: (method: string, path: string, body?: object) => ReturnType<typeof rest>) => Promise<void>,
  ): Promise<void> {
    versions += 1;
    const shelves = defineNoun({
      name: 'shelf',
      plural: 'shelves',
      type: `Shelf${versions}`,
      fields: { title },
    });
    class Shelves1780000000001 extends NewTable {
      table = shelves.table.table;
    }
    const nouns = [shelves, books[version]];
    const gateway = createGateway({
      name: 'Shelves',
      nouns,
      migrations: [Shelves1780000000001, ...migrations],
    });
    const kept = { url: database.url, remove: async () => {} };
    const app: TestApp = await startTestedApp({ gateway: await loadGateway(gateway), database: kept });
    try {
      tenant ??= await app.tenant();
      const { token } = tenant;
      await work((method, path, body) =>
        rest(app.url, `/v1/${path}`, { method, token, ...(body && { body }) }),
      );
    } finally {
      await app.stop();
    }
  }
  const shelfIn = async (send: (method: string, path: string, body?: object) => ReturnType<typeof rest>) =>
    (await send('POST', 'shelves', { title: 'North' })).body.id;

  test('Migrations-22: a reference comes to records that exist, changes its onDelete, loses its filter and goes', async () => {
    const schema = await schemaOf(tableOf('plain'), tableOf('unset'), tableOf('bare'), tableOf('plain'));
    const until = (count: number) => ({ migrations: schema.migrations.slice(0, count) });
    let path = '';
    await serving('plain', until(1), async (send) => {
      path = `books/${(await send('POST', 'books', { title: 'Emma' })).body.id}`;
    });

    await serving('unset', until(2), async (send) => {
      expect((await send('GET', path)).body).not.toHaveProperty('shelfId');
      expect((await send('PATCH', path, { shelfId: 4711 })).body.errors[0].field).toBe('shelfId');
      const shelf = await shelfIn(send);
      expect((await send('PATCH', path, { shelfId: shelf })).body.shelfId).toBe(shelf);
      expect((await send('GET', `books?shelfId=${shelf}`)).body).toHaveLength(1);
      expect((await send('DELETE', `shelves/${shelf}`)).status).toBe(204);
      expect((await send('GET', path)).body).not.toHaveProperty('shelfId');
      await send('PATCH', path, { shelfId: await shelfIn(send) });
    });

    // The tables know nothing of onDelete and mustExist.
    await expect(schemaOf(tableOf('unset'), tableOf('refuse'))).rejects.toThrow('changes nothing');
    await serving('refuse', until(2), async (send) => {
      const { shelfId } = (await send('GET', path)).body;
      expect((await send('DELETE', `shelves/${shelfId}`)).status).toBe(409);
    });

    await serving('bare', until(3), async (send) => {
      const { shelfId } = (await send('GET', path)).body;
      expect((await send('DELETE', `shelves/${shelfId}`)).status).toBe(204);
      expect((await send('GET', path)).body).toMatchObject({ title: 'Emma', shelfId });
      expect((await send('PATCH', path, { shelfId: 4711 })).body.shelfId).toBe(4711);
    });

    await serving('plain', until(4), async (send) => {
      expect(Object.keys((await send('GET', path)).body)).toEqual(['id', 'title']);
    });
    await revertLastMigration(loadConfig({ DATABASE_URL: database.url }).database, schema);
    await serving('bare', until(3), async (send) => {
      expect((await send('GET', path)).body).toEqual({ id: expect.anything(), title: 'Emma' });
    });
  });

  test('Migrations-23: a field of digits becomes a reference without a migration, and keeps the identifiers of no record', async () => {
    const schema = await schemaOf(tableOf('counted'));
    let path = '';
    await serving('counted', schema, async (send) => {
      path = `books/${(await send('POST', 'books', { title: 'Emma', shelfId: 4711 })).body.id}`;
    });
    await expect(schemaOf(tableOf('counted'), tableOf('refuse'))).rejects.toThrow('changes nothing');
    await serving('refuse', schema, async (send) => {
      expect((await send('GET', path)).body.shelfId).toBe(4711);
      // A change that does not state it keeps it.
      expect((await send('PATCH', path, { title: 'Eva' })).body).toMatchObject({
        title: 'Eva',
        shelfId: 4711,
      });
      expect((await send('PATCH', path, { shelfId: 4712 })).status).toBe(400);
    });
  });
});

test('Migrations-24: a required reference is refused for records that exist, and the end of one says what is lost', async () => {
  const { migrations } = await schemaOf(tableOf('plain'));
  const write = (before: DatabaseSchema['migrations'], definition: ReturnType<typeof tableOf>) =>
    writeMigrations(
      { entities: [], migrations: before, definitions: [definition] },
      {
        folder: join(tmpdir(), 'never-made'),
        isTypeScript: false,
        allowsLoss: false,
        atMs: 1_795_842_890_411,
      },
    );
  const required = booksWith({ shelfId: reference('shelf', { filter: true, mustExist: true }) });
  await expect(write(migrations, required.table.table)).rejects.toThrow(
    'shelfId of books is required, and records that exist have no value for it. Make it optional',
  );
  const { migrations: referring } = await schemaOf(tableOf('refuse'));
  await expect(write(referring, tableOf('plain'))).rejects.toThrow(
    'shelfId of books is no longer defined: its values are deleted. A revert adds it without values.',
  );
});
