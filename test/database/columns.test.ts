import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/ground/config/config.js';
import { Database } from '../../src/ground/database/database.js';
import { migrate } from '../../src/ground/migrating/migrate.js';
import { RateCounter } from '../../src/request/rate-limit/memory/counter-store.js';
import { NO_RECORD } from '../../src/request/rate-limit/rules/bans.js';
import { AuditEvent } from '../../src/tenants/audit/audit-event.entity.js';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../support/databases.js';
import { DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';

describe.each(databaseKinds())('on %s', (kind) => {
  let database: TestDatabase;
  let db: Database;
  beforeAll(async () => {
    database = await createTestDatabase(kind);
    const target = loadConfig({ DATABASE_URL: database.url }).database;
    await migrate(target, DATABASE_SCHEMA);
    db = await Database.open(target, DATABASE_SCHEMA);
  });
  afterAll(async () => {
    await db.close();
    await database.remove();
  });

  test('Database-11: booleans are stored as 0 and 1, and conditions on them find the rows', async () => {
    const bans = db.repository(RateCounter);
    const row = { value: NO_RECORD, endMs: Number.MAX_SAFE_INTEGER };
    await bans.insert([
      { ...row, name: 'lifted', isLifted: true },
      { ...row, name: 'kept', isLifted: false },
    ]);
    const stored = await bans.query('SELECT is_lifted FROM rate_counters ORDER BY name');
    expect(stored.map((raw: { is_lifted: unknown }) => Number(raw.is_lifted))).toEqual([0, 1]);
    expect(await bans.findBy({ isLifted: true })).toMatchObject([{ name: 'lifted', isLifted: true }]);
    expect(await bans.findBy({ isLifted: false })).toMatchObject([{ name: 'kept', isLifted: false }]);
    await bans.update({ name: 'kept' }, { isLifted: true });
    expect(await bans.countBy({ isLifted: true })).toBe(2);
  });

  test('Database-12: a JSON value is stored as text, and null as NULL', async () => {
    const events = db.repository(AuditEvent);
    const event = { atMs: 1, actor: 'test', action: 'test', projectId: 1n, subject: 'x', requestId: null };
    const detail = { text: 'a "quote" and ☃', number: 1, nothing: null };
    await events.insert([
      { ...event, id: 1n, detail },
      { ...event, id: 2n, detail: null },
    ]);
    const stored = await events.query("SELECT detail FROM audit_events WHERE actor = 'test' ORDER BY id");
    expect(stored).toEqual([{ detail: JSON.stringify(detail) }, { detail: null }]);
    const read = await events.find({ where: { actor: 'test' }, order: { id: 'ASC' } });
    expect(read.map((row) => row.detail)).toEqual([detail, null]);
  });
});
