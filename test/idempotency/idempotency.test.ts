import { beforeAll, expect, test } from '@jest/globals';
import { IdempotencyKey } from '../../src/tenants/idempotency/idempotency-key.entity.js';
import { graphql, rest } from '../support/http/client.js';
import { Toy } from '../support/nouns/toys.js';
import { onEachDatabase } from '../support/on-databases.js';
import type { Tenant } from '../support/start-app.js';

const DAY_MS = 24 * 3_600_000;
const LOCK_MS = 10_000;

onEachDatabase((app) => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await app().tenant();
  });
  const post = (key: string, body: unknown = { name: 'Rex', categoryId: 1 }, token = tenant.token) =>
    rest(app().url, '/v1/toys', { method: 'POST', token, body, headers: { 'idempotency-key': key } });
  const mutate = (key: string, query: string, variables = {}, token = tenant.token) =>
    graphql(app().url, query, { token, variables, headers: { 'idempotency-key': key } });
  const count = async (token: string) =>
    (await rest(app().url, '/v1/toys?limit=100', { token })).body.length as number;

  test('Idempotency-7: after a crash during a request, one of the next attempts does the work', async () => {
    const owner = await app().tenant();
    const { projectId } = owner;
    await post('crash', undefined, owner.token);
    // The rows that a process leaves when it dies before its commit.
    await app().db.repository(Toy).delete({ projectId });
    const lockedUntilMs = app().clock.now + LOCK_MS;
    await app().db.repository(IdempotencyKey).update({ projectId }, { result: null, lockedUntilMs });
    const early = await post('crash', undefined, owner.token);
    expect([early.status, early.headers.get('retry-after')]).toEqual([409, '1']);
    app().clock.now += LOCK_MS;
    const again = await Promise.all(Array.from({ length: 5 }, () => post('crash', undefined, owner.token)));
    const answered = again.filter(({ status }) => status === 201);
    expect(answered.length).toBeGreaterThan(0);
    for (const { body } of answered) expect(body).toEqual(answered[0]?.body);
    expect(await count(owner.token)).toBe(1);
  });

  test('Idempotency-42: a lock that a dead process set while its clock was a day ahead does not last a day', async () => {
    const owner = await app().tenant();
    const { projectId } = owner;
    await post('ahead', undefined, owner.token);
    await app().db.repository(Toy).delete({ projectId });
    const lockedUntilMs = app().clock.now + DAY_MS + LOCK_MS;
    await app().db.repository(IdempotencyKey).update({ projectId }, { result: null, lockedUntilMs });
    expect((await post('ahead', undefined, owner.token)).status).toBe(201);
  });

  test('Idempotency-8: a key is kept for 24 hours and then forgotten, and its row is deleted', async () => {
    const owner = await app().tenant();
    const first = await post('old', undefined, owner.token);
    app().clock.now += DAY_MS - 1;
    expect((await post('old', undefined, owner.token)).body).toEqual(first.body);
    app().clock.now += 1;
    const next = await post('old', { name: 'Max', categoryId: 2 }, owner.token);
    expect([next.status, next.body.name]).toEqual([201, 'Max']);
    app().clock.now += DAY_MS + 1;
    const { idempotency } = app().app.services;
    while ((await idempotency.deleteOldRows()) > 0);
    expect(await app().db.repository(IdempotencyKey).count()).toBe(0);
  });

  test('Idempotency-11: one sweep deletes all expired keys, however many, and no other key', async () => {
    const { projectId } = await app().tenant();
    const rows = app().db.repository(IdempotencyKey);
    const row = (at: number, expiresAtMs: number) => ({
      projectId,
      keyDigest: `${at}`.padStart(64, '0'),
      fingerprint: '0'.repeat(64),
      lockedUntilMs: 0,
      result: 'x'.repeat(300),
      expiresAtMs,
    });
    const now = app().clock.now;
    const old = Array.from({ length: 2_600 }, (_, at) => row(at, now - 1 - (at % 7)));
    for (let at = 0; at < old.length; at += 200) await rows.insert(old.slice(at, at + 200));
    await rows.insert(row(9_999, now));
    expect(await app().app.services.idempotency.deleteOldRows()).toBeGreaterThanOrEqual(500);
    expect(await rows.countBy({ projectId })).toBe(1);
  });

  test('Idempotency-19: the key of one of several mutations is no other client key, whatever the alias', async () => {
    const owner = await app().tenant();
    const query =
      'mutation { a: createToy(input: {name: "Rex", categoryId: 1}) { id } b: publishProject { slug } }';
    for (const key of ['several', 'x'.repeat(255)]) {
      const { body } = await mutate(key, query, {}, owner.token);
      expect((await mutate(key, query, {}, owner.token)).body).toEqual(body);
      for (const near of [`${key}:a`, `${key}a`].filter(({ length }) => length <= 255)) {
        expect(String((await post(near, undefined, owner.token)).body.id)).not.toBe(body.data.a.id);
      }
    }
  });

  test('Idempotency-12: a repeated publishProject records one deploy', async () => {
    const owner = await app().tenant();
    const query = 'mutation { publishProject { slug publishedAt } }';
    const first = await mutate('publish', query, {}, owner.token);
    app().clock.now += 5_000;
    expect((await mutate('publish', query, {}, owner.token)).body).toEqual(first.body);
    expect((await mutate('publish-2', query, {}, owner.token)).body).not.toEqual(first.body);
  });

  test('Idempotency-13: keys are case-sensitive, and are stored as digests only', async () => {
    const [lower, upper] = [await post('case'), await post('CASE')];
    expect(lower.body.id).not.toBe(upper.body.id);
    const rows = await app().db.repository(IdempotencyKey).find();
    for (const { keyDigest } of rows) expect(keyDigest).toMatch(/^[0-9a-f]{64}$/);
  });
});
