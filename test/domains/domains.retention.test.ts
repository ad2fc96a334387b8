import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DomainEvent, EVENT_RETENTION } from '../../src/domains/store/timeline.js';
import { Retention } from '../../src/ground/database/retention.js';
import { databaseKinds } from '../support/databases.js';
import { startApp, type TestApp } from '../support/start-app.js';

describe.each(databaseKinds())('on %s', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({ kind });
  });
  afterAll(() => app.stop());

  test('Timeline-1: a domain keeps its newest 200 events, and no other domain loses one', async () => {
    const { ids } = app.app.services;
    const now = () => app.clock.now;
    const events = app.db.repository(DomainEvent);
    const texts = { atMs: now(), name: 'domain.check_failed', message: '', diagnoses: [] };
    const eventsOf = (domainId: bigint, count: number) =>
      Array.from({ length: count }, () => ({ id: ids.next(), domainId, ...texts }));
    const [busy, quiet] = [eventsOf(1n, 250), eventsOf(2n, 200)];
    await events.insert([...busy, ...quiet]);
    await new Retention(app.db, DomainEvent, EVENT_RETENTION, now).deleteOldRows();
    const kept = async (domainId: bigint) => {
      const rows = await events.find({ where: { domainId }, order: { id: 'ASC' } });
      return rows.map(({ id }) => id);
    };
    expect(await kept(1n)).toEqual(busy.slice(-200).map(({ id }) => id));
    expect(await kept(2n)).toEqual(quiet.map(({ id }) => id));
  });
});
