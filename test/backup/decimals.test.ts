import { expect, test } from '@jest/globals';
import { databaseSchema } from '../../src/app/database-schema.js';
import { createGateway, loadGateway } from '../../src/app/gateway.js';
import { copyDatabase } from '../../src/ground/backup/copy.js';
import { loadConfig } from '../../src/ground/config/config.js';
import { Database } from '../../src/ground/database/database.js';
import { migrate } from '../../src/ground/migrating/migrate.js';
import { createTestDatabase, databaseKinds } from '../support/databases.js';
import { shipments } from '../support/nouns/shipments.js';

const NUMBERS = ['-12.5000000000', '0.0000000000', `${'9'.repeat(28)}.0123456789`];
const ROW = {
  trackingCode: 'A',
  fragile: true,
  dueAt: '2026-12-24T18:00:00.000Z',
  tags: ['a'],
  createdAtMs: 1,
};

test.each(databaseKinds())(
  'Copy-15: a decimal has the same value in a copy on %s, and back',
  async (other) => {
    const schema = databaseSchema(
      await loadGateway(createGateway({ name: 'Shipments', nouns: [shipments] })),
    );
    const databases = [
      await createTestDatabase('sqlite'),
      await createTestDatabase(other),
      await createTestDatabase('sqlite'),
    ];
    const targets = databases.map(({ url }) => loadConfig({ DATABASE_URL: url }).database);
    const [first, second, third] = targets as [(typeof targets)[0], (typeof targets)[0], (typeof targets)[0]];
    const shown = async (target: typeof first) => {
      const db = await Database.open(target, schema);
      const rows = await db.repository(shipments.entity).find({ order: { id: 'ASC' } });
      await db.close();
      return rows;
    };
    await migrate(first, schema);
    const db = await Database.open(first, schema);
    for (const [at, balance] of NUMBERS.entries()) {
      const record = { ...ROW, projectId: 1n, id: BigInt(at), balance } as never;
      await db.repository(shipments.entity).insert(record);
    }
    await db.close();
    const stored = await shown(first);
    expect(stored.map(({ balance }) => balance)).toEqual(NUMBERS);
    for (const [from, into] of [
      [first, second],
      [second, third],
    ] as const) {
      const { signal } = new AbortController();
      const startedAt = '2026-11-28T00:00:00Z';
      await copyDatabase(schema, { from, into, isForced: false, startedAt, signal, onProgress: () => {} });
      expect(await shown(into)).toEqual(stored);
    }
    for (const database of databases) await database.remove();
  },
);
