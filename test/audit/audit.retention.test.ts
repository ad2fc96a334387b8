import { expect, test } from '@jest/globals';
import { Retention } from '../../src/ground/database/retention.js';
import { firstIdAt } from '../../src/ground/kernel/ids.js';
import { AuditEvent } from '../../src/tenants/audit/audit-event.entity.js';
import { AUDIT_RETENTION } from '../../src/tenants/audit/audit-log.js';
import { graphql } from '../support/http/client.js';
import { onEachDatabase } from '../support/on-databases.js';

const DAY_MS = 86_400_000;

onEachDatabase((app) => {
  const rows = () => app().db.repository(AuditEvent);
  /** Adds acts of a project in this time, oldest first, and returns their ids. */
  async function acts(projectId: bigint, atMs: number, count: number): Promise<bigint[]> {
    const fields = { actor: 'cli:root', action: 'test.act', subject: 'x', requestId: null, detail: null };
    const ids = Array.from({ length: count }, (_, at) => firstIdAt(atMs) + BigInt(at));
    for (let at = 0; at < count; at += 500) {
      const some = ids.slice(at, at + 500);
      await rows().insert(some.map((id) => ({ id, projectId, atMs, ...fields })));
    }
    return ids;
  }
  const kept = async (projectId: bigint) => {
    const found = await rows().find({ select: { id: true }, where: { projectId }, order: { id: 'ASC' } });
    return found.map(({ id }) => id);
  };
  const newProject = async () => {
    const { projectId } = await app().tenant();
    await rows().delete({ projectId });
    return projectId;
  };

  test('Audit-11: acts older than 400 days are deleted, however many, and no younger one', async () => {
    const { now } = app().clock;
    const [one, other] = [await newProject(), await newProject()];
    const edgeMs = now - 400 * DAY_MS;
    await acts(one, edgeMs - DAY_MS, 1_300);
    await acts(other, edgeMs - 1, 1);
    const young = await acts(one, edgeMs, 3);
    for (const each of app().app.services.capabilities) await each.deleteOldRows?.();
    expect([await kept(one), await kept(other)]).toEqual([young, []]);
  });

  test('Audit-12: a project that acts keeps its newest acts up to its bound, and no other project loses one', async () => {
    const { now } = app().clock;
    const [busy, quiet] = [await newProject(), await newProject()];
    const ofBusy = await acts(busy, now - DAY_MS, 1_300);
    const ofQuiet = await acts(quiet, now - DAY_MS - 1, 60);
    const retention = new Retention(app().db, AuditEvent, { ...AUDIT_RETENTION, maxOfOwner: 50 }, () => now);
    await retention.deleteOldRows();
    expect(await kept(busy)).toEqual(ofBusy);
    const [newest] = await acts(busy, now - 60_000, 1);
    await retention.deleteOldRows();
    expect(await kept(busy)).toEqual([...ofBusy.slice(-49), newest]);
    expect(await kept(quiet)).toEqual(ofQuiet);
  });

  test('Audit-13: no act takes more than 4 KB', async () => {
    const { token, keyId, projectId } = await app().tenant();
    for (const name of ['\u0001'.repeat(255), '\u0002'.repeat(255)]) {
      const query = 'mutation($id: ID!, $name: String!) { renameApiKey(id: $id, name: $name) { id } }';
      const { body } = await graphql(app().url, query, { token, variables: { id: String(keyId), name } });
      expect(body.errors).toBeUndefined();
    }
    const events = await rows().findBy({ projectId, action: 'key.rename' });
    const sizes = events.map(({ detail, ...event }) => {
      const texts = Object.values({ ...event, detail: JSON.stringify(detail) }).map(String);
      return Buffer.byteLength(texts.join(''));
    });
    expect(sizes).toHaveLength(2);
    expect(Math.max(...sizes)).toBeGreaterThan(3_000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4_096);
  });
});
