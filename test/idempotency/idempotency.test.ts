import { beforeAll, expect, test } from '@jest/globals';
import { Pet } from '../../src/pets/pet.entity.js';
import { IdempotencyKey } from '../../src/tenants/idempotency/idempotency-key.entity.js';
import { graphql, rest } from '../support/http/client.js';
import { onEachDatabase } from '../support/on-databases.js';
import type { Tenant } from '../support/start-app.js';

const DAY_MS = 24 * 3_600_000;
const LOCK_MS = 10_000;
const CREATE = 'mutation($input: NewPet!) { createPet(input: $input) { id name categoryId status } }';

onEachDatabase((app) => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await app().tenant();
  });
  const post = (key: string, body: unknown = { name: 'Rex', categoryId: 1 }, token = tenant.token) =>
    rest(app().url, '/v1/pets', { method: 'POST', token, body, headers: { 'idempotency-key': key } });
  const mutate = (key: string, query: string, variables = {}, token = tenant.token) =>
    graphql(app().url, query, { token, variables, headers: { 'idempotency-key': key } });
  const count = async (token: string) =>
    (await rest(app().url, '/v1/pets?limit=100', { token })).body.length as number;

  test('Idempotency-1: a repeated POST replays status, body and Location and creates nothing', async () => {
    const owner = await app().tenant();
    const first = await post('a', undefined, owner.token);
    const again = await post('a', '{ "categoryId":1, "name":"Rex", "unknown":true }', owner.token);
    expect([again.status, again.text, again.headers.get('location')]).toEqual([
      201,
      first.text,
      first.headers.get('location'),
    ]);
    expect(await count(owner.token)).toBe(1);
  });

  test('Idempotency-40: a stored answer is marked as replayed at both doors, and no other answer is', async () => {
    const owner = await app().tenant();
    const markOf = async (answer: Promise<{ headers: Headers }>) =>
      (await answer).headers.get('idempotent-replayed');
    const two = `mutation { a: createPet(input: {name: "A", categoryId: 1}) { id }
      b: createPet(input: {name: "B", categoryId: 1}) { id } }`;
    expect(await markOf(post('marked', undefined, owner.token))).toBeNull();
    expect(await markOf(post('marked', undefined, owner.token))).toBe('true');
    expect(await markOf(post('marked', { name: 'Max', categoryId: 1 }, owner.token))).toBeNull();
    const input = { name: 'Rex', categoryId: '1' };
    expect(await markOf(mutate('marked', CREATE, { input }, owner.token))).toBe('true');
    expect(await markOf(mutate('two', two.replace(/ b:.*/, '}'), {}, owner.token))).toBeNull();
    expect(await markOf(mutate('two', two, {}, owner.token))).toBeNull();
    expect(await markOf(mutate('two', two, {}, owner.token))).toBe('true');
    expect(await count(owner.token)).toBe(4);
  });

  test('Idempotency-2: the replayed answer is the first answer, even after the pet was changed', async () => {
    const first = await post('changed');
    await mutate('x', `mutation { updatePet(id: "${first.body.id}", input: {name: "Max"}) { id } }`);
    expect((await post('changed')).text).toBe(first.text);
  });

  test('Idempotency-3: both doors share one store, and digits are exact', async () => {
    const owner = await app().tenant();
    const made = await post('both', '{"name":"Rex","categoryId":9007199254740993}', owner.token);
    const input = { name: 'Rex', categoryId: '9007199254740993' };
    const { body } = await mutate('both', CREATE, { input }, owner.token);
    expect(body.data.createPet).toEqual({ id: String(made.body.id), ...input, status: null });
    expect(await count(owner.token)).toBe(1);
  });

  test('Idempotency-4: another payload answers 422, at both doors', async () => {
    await post('payload');
    for (const body of [
      { name: 'Max', categoryId: 1 },
      { name: 'Rex', categoryId: 2 },
      { name: 'Rex', categoryId: 1, status: 'sold' },
    ]) {
      const refused = await post('payload', body);
      expect([refused.status, refused.body.code]).toEqual([422, 'idempotency_mismatch']);
    }
    const { body } = await mutate('payload', CREATE, { input: { name: 'Max', categoryId: '1' } });
    expect(body.errors[0].extensions).toEqual({ code: 'IDEMPOTENCY_MISMATCH', status: 422 });
  });

  test('Idempotency-5: of 20 simultaneous requests one does the work, the others get its answer or 409 with Retry-After', async () => {
    const owner = await app().tenant();
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('race', undefined, owner.token)));
    const made = new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text));
    expect(made.size).toBe(1);
    for (const { status, headers, body } of answers.filter(({ status }) => status !== 201)) {
      expect([status, body.code, headers.get('retry-after')]).toEqual([409, 'conflict', '1']);
    }
    expect(await count(owner.token)).toBe(1);
  });

  test('Idempotency-6: a refusal leaves the key free for the corrected request', async () => {
    expect((await post('refused', { name: '', categoryId: 1 })).status).toBe(400);
    expect((await post('refused')).status).toBe(201);
    const update = (id: string) => `mutation { updatePet(id: "${id}", input: {name: "Max"}) { id } }`;
    const missing = await mutate('missing', update('1'));
    expect(missing.body.errors[0].extensions.code).toBe('NOT_FOUND');
    const { body } = await post('other');
    expect((await mutate('missing', update(body.id))).body.data.updatePet.id).toBe(String(body.id));
  });

  test('Idempotency-7: after a crash during a request, one of the next attempts does the work', async () => {
    const owner = await app().tenant();
    const { projectId } = owner;
    await post('crash', undefined, owner.token);
    // The rows that a process leaves when it dies before its commit.
    await app().db.repository(Pet).delete({ projectId });
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
    while ((await idempotency.deleteExpiredKeys()) > 0);
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
    expect(await app().app.services.idempotency.deleteExpiredKeys()).toBeGreaterThanOrEqual(500);
    expect(await rows.countBy({ projectId })).toBe(1);
  });

  test('Idempotency-9: in one operation each mutation uses the key separately, by alias', async () => {
    const owner = await app().tenant();
    const query = `mutation { a: createPet(input: {name: "A", categoryId: 1}) { id }
                              b: createPet(input: {name: "B", categoryId: 1}) { id } }`;
    const first = await mutate('several', query, {}, owner.token);
    const again = await mutate('several', query, {}, owner.token);
    expect(again.body).toEqual(first.body);
    expect(first.body.data.a.id).not.toBe(first.body.data.b.id);
    expect(await count(owner.token)).toBe(2);
  });

  test('Idempotency-19: the key of one of several mutations is no other client key, whatever the alias', async () => {
    const owner = await app().tenant();
    const query =
      'mutation { a: createPet(input: {name: "Rex", categoryId: 1}) { id } b: publishProject { slug } }';
    for (const key of ['several', 'x'.repeat(255)]) {
      const { body } = await mutate(key, query, {}, owner.token);
      expect((await mutate(key, query, {}, owner.token)).body).toEqual(body);
      for (const near of [`${key}:a`, `${key}a`].filter(({ length }) => length <= 255)) {
        expect(String((await post(near, undefined, owner.token)).body.id)).not.toBe(body.data.a.id);
      }
    }
  });

  test('Idempotency-20: the same key of another project reads no stored answer of this one', async () => {
    const owners = [await app().tenant(), await app().tenant()];
    const send = async () => {
      const ids: unknown[] = [];
      for (const { token } of owners) ids.push((await post('shared', undefined, token)).body.id);
      return ids;
    };
    const first = await send();
    expect(new Set(first).size).toBe(2);
    expect(await send()).toEqual(first);
  });

  test('Idempotency-21: the payload of updatePet counts each field, and an absent one differs from null', async () => {
    const { body } = await post('to-update');
    const update = async (key: string, input: object) => {
      const query = 'mutation($id: ID!, $input: PetChanges!) { updatePet(id: $id, input: $input) { id } }';
      const answer = await mutate(key, query, { id: String(body.id), input });
      return answer.body.errors?.[0].extensions.code ?? 'updated';
    };
    const inputs = [
      { name: 'Max' },
      { name: 'Max', status: null },
      { name: 'Max', status: 'sold' },
      { name: 'Max', categoryId: '2' },
      { name: 'Moe' },
    ];
    for (const [at, first] of inputs.entries()) {
      const key = `update-${at}`;
      expect(await update(key, first)).toBe('updated');
      const answers = await Promise.all(inputs.map((input) => update(key, input)));
      expect(answers).toEqual(inputs.map((input) => (input === first ? 'updated' : 'IDEMPOTENCY_MISMATCH')));
    }
  });

  test.each(['', 'x'.repeat(256), 'a b', 'é'])('Idempotency-10: refuses the key %j with 400', async (key) => {
    const refused = await rest(app().url, '/v1/pets', {
      method: 'POST',
      token: tenant.token,
      body: { name: 'Rex', categoryId: 1 },
      headers: { 'idempotency-key': key },
    });
    expect([refused.status, refused.body.errors?.[0].field]).toEqual([400, 'Idempotency-Key']);
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
