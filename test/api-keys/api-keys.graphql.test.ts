import { describe, expect, test } from '@jest/globals';
import { ApiKey } from '../../src/tenants/api-keys/api-key.entity.js';
import { AuditEvent } from '../../src/tenants/audit/audit-event.entity.js';
import { IdempotencyKey } from '../../src/tenants/idempotency/idempotency-key.entity.js';
import { SCOPES } from '../support/gateway/tested-gateway.js';
import { graphql, rest } from '../support/http/client.js';
import { HAMMERING_MS, HOUR_MS } from '../support/limiter/charges.js';
import { onAnyDatabase } from '../support/on-databases.js';
import { TEST_ACTOR, type Tenant } from '../support/start-app.js';

const KEY = 'id name prefix scopes createdAt expiresAt revokedAt lastUsedAt isCurrent';
const CREATE = `mutation ($input: NewApiKey!) { createApiKey(input: $input) { token key { ${KEY} } } }`;
const ROLL = `mutation ($id: ID!, $overlap: Int) { rollApiKey(id: $id, overlapSeconds: $overlap) { token key { ${KEY} } } }`;
const REVOKE = `mutation ($id: ID!) { revokeApiKey(id: $id) { ${KEY} } }`;
const RENAME = `mutation ($id: ID!, $name: String!) { renameApiKey(id: $id, name: $name) { ${KEY} } }`;
const LIST = `{ apiKeys { ${KEY} } }`;
const DAY_MS = 24 * HOUR_MS;

onAnyDatabase((app) => {
  const ask = (token: string, query: string, variables = {}, headers = {}) =>
    graphql(app().url, query, { token, variables, headers });
  const create = (token: string, input: object, headers = {}) => ask(token, CREATE, { input }, headers);
  const made = async (token: string, input: object) => (await create(token, input)).body.data.createApiKey;
  const codeOf = ({ body }: { body: { errors?: { extensions: { code: string } }[] } }) =>
    body.errors?.[0]?.extensions.code;
  const restStatus = async (token: string) => (await rest(app().url, '/v1/toys', { token })).status;
  /** Advances past the second for which a key is cached, and past the minute of `@rateLimit`. */
  const nextMinute = () => {
    app().clock.now += 60_000;
  };

  test("Keys-GraphQL-1: apiKey describes the caller's own key, without a scope", async () => {
    const { token, keyId } = await app().tenant({ scopes: ['toys:read'] });
    const { body } = await ask(token, `{ apiKey { ${KEY} } }`);
    expect(body.data.apiKey).toEqual({
      id: String(keyId),
      name: 'test',
      prefix: token.slice(0, 9),
      scopes: ['TOYS_READ'],
      createdAt: new Date(app().clock.now).toISOString(),
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: new Date(app().clock.now).toISOString(),
      isCurrent: true,
    });
  });

  test('Keys-GraphQL-2: a key made over GraphQL works at both doors, and only its digest is stored', async () => {
    const { token } = await app().tenant();
    const expiresAt = new Date(app().clock.now + HOUR_MS).toISOString();
    const { key, token: second } = await made(token, {
      name: 'second',
      scopes: ['KEYS', 'TOYS_READ', 'KEYS'],
      expiresAt,
    });
    expect(key).toMatchObject({
      name: 'second',
      scopes: ['TOYS_READ', 'KEYS'],
      expiresAt,
      lastUsedAt: null,
      isCurrent: false,
    });
    expect(await restStatus(second)).toBe(200);
    expect((await ask(second, '{ apiKey { isCurrent name } }')).body.data.apiKey).toEqual({
      isCurrent: true,
      name: 'second',
    });
    const stored = JSON.stringify(
      [await app().db.repository(ApiKey).find(), await app().db.repository(AuditEvent).find()],
      (_, value) => (typeof value === 'bigint' ? String(value) : value),
    );
    expect(stored).not.toContain(second);
    app().clock.now += HOUR_MS;
    expect(await restStatus(second)).toBe(401);
  });

  test.each([
    ['apiKeys', LIST, {}],
    ['createApiKey', CREATE, { input: { name: 'x', scopes: ['TOYS_READ'] } }],
    ['rollApiKey', ROLL, { id: '1' }],
    ['renameApiKey', RENAME, { id: '1', name: 'x' }],
    ['revokeApiKey', REVOKE, { id: '1' }],
    ['unbanApiKey', 'mutation ($id: ID!) { unbanApiKey(id: $id) { id } }', { id: '1' }],
  ])('Keys-GraphQL-3: %s needs the scope keys', async (_, query, variables) => {
    const { token } = await app().tenant({ scopes: ['toys:read', 'toys:write', 'domains'] });
    expect(codeOf(await ask(token, query, variables))).toBe('FORBIDDEN');
  });

  test('Keys-GraphQL-4: a key cannot grant a scope that it lacks, neither by creating nor by rolling', async () => {
    const { token, projectId } = await app().tenant({ scopes: ['keys', 'toys:read'] });
    for (const scopes of [['TOYS_WRITE'], ['TOYS_READ', 'DOMAINS'], ['KEYS', 'TOYS_WRITE']]) {
      expect(codeOf(await create(token, { name: 'x', scopes }))).toBe('FORBIDDEN');
    }
    const { key: mighty } = await app().app.services.apiKeys.create(TEST_ACTOR, {
      projectId,
      name: 'mighty',
      scopes: SCOPES,
      expiresAtMs: null,
    });
    expect(codeOf(await ask(token, ROLL, { id: String(mighty.id) }))).toBe('FORBIDDEN');
    expect(await app().db.repository(ApiKey).countBy({ projectId })).toBe(2);
    expect((await made(token, { name: 'x', scopes: ['KEYS', 'TOYS_READ'] })).key.scopes).toEqual([
      'TOYS_READ',
      'KEYS',
    ]);
  });

  test('Keys-GraphQL-5: invalid input is refused with the name of each field, and no key is made', async () => {
    const { token, projectId } = await app().tenant();
    const past = new Date(app().clock.now).toISOString();
    const { body } = await create(token, { name: '', scopes: [], expiresAt: past });
    expect(body.errors[0].extensions).toMatchObject({ code: 'INVALID_REQUEST', status: 400 });
    expect(body.errors[0].extensions.errors.map(({ field }: { field: string }) => field)).toEqual([
      'name',
      'scopes',
      'expiresAt',
    ]);
    for (const name of ['  ', 'x'.repeat(256), 'a\u0000b', '\ud800']) {
      expect(codeOf(await create(token, { name, scopes: ['KEYS'] }))).toBe('INVALID_REQUEST');
    }
    const [{ id }] = (await ask(token, LIST)).body.data.apiKeys;
    for (const overlap of [-1, 2_592_001]) {
      expect(codeOf(await ask(token, ROLL, { id, overlap }))).toBe('INVALID_REQUEST');
    }
    expect(await app().db.repository(ApiKey).countBy({ projectId })).toBe(1);
  });

  test('Keys-GraphQL-6: names come back exactly as they were given', async () => {
    const { token } = await app().tenant();
    for (const name of HOSTILE_NAMES) {
      expect((await made(token, { name, scopes: ['TOYS_READ'] })).key.name).toBe(name);
    }
    const { body } = await ask(token, LIST);
    const names = body.data.apiKeys.map(({ name }: { name: string }) => name);
    expect(names).toEqual([...HOSTILE_NAMES.toReversed(), 'test']);
  });

  test("Keys-GraphQL-7: the list is newest first, holds this project's keys only, and shows ended keys for 30 days", async () => {
    const { token } = await app().tenant();
    const other = await app().tenant();
    const expiresAt = new Date(app().clock.now + HOUR_MS).toISOString();
    await made(token, { name: 'expires', scopes: ['KEYS'], expiresAt });
    const { key } = await made(token, { name: 'revoked', scopes: ['KEYS'] });
    nextMinute();
    await made(token, { name: 'newest', scopes: ['KEYS'] });
    await made(other.token, { name: 'of others', scopes: ['KEYS'] });
    const revoked = (await ask(token, REVOKE, { id: key.id })).body.data.revokeApiKey;
    expect(revoked.revokedAt).toBe(new Date(app().clock.now).toISOString());
    const names = async () =>
      (await ask(token, LIST)).body.data.apiKeys.map(({ name }: { name: string }) => name);
    expect(await names()).toEqual(['newest', 'revoked', 'expires', 'test']);
    app().clock.now += 30 * DAY_MS - 1;
    expect(await names()).toEqual(['newest', 'revoked', 'expires', 'test']);
    app().clock.now += 1;
    expect(await names()).toEqual(['newest', 'expires', 'test']);
    app().clock.now += HOUR_MS;
    expect(await names()).toEqual(['newest', 'test']);
  });

  test('Keys-GraphQL-8: after rolling both keys work, and the old key ends with its overlap', async () => {
    const { token, keyId } = await app().tenant();
    const start = app().clock.now;
    const { key, token: next } = (await ask(token, ROLL, { id: String(keyId), overlap: 3_600 })).body.data
      .rollApiKey;
    expect(key).toMatchObject({ name: 'test', scopes: ['TOYS_READ', 'TOYS_WRITE', 'DOMAINS', 'KEYS'] });
    expect([await restStatus(token), await restStatus(next)]).toEqual([200, 200]);
    app().clock.now = start + HOUR_MS - 1;
    expect([await restStatus(token), await restStatus(next)]).toEqual([200, 200]);
    app().clock.now = start + HOUR_MS;
    expect([await restStatus(token), await restStatus(next)]).toEqual([401, 200]);
    expect(codeOf(await ask(next, ROLL, { id: String(keyId) }))).toBe('CONFLICT');
    const standard = (await ask(next, `mutation { rollApiKey(id: "${key.id}") { token } }`)).body.data;
    app().clock.now += DAY_MS - 1;
    expect(await restStatus(next)).toBe(200);
    app().clock.now += 1;
    expect([await restStatus(next), await restStatus(standard.rollApiKey.token)]).toEqual([401, 200]);
  });

  test('Keys-GraphQL-19: a key that an expiring key makes or rolls ends with it at the latest', async () => {
    const { token, keyId } = await app().tenant();
    const at = (ms: number) => new Date(app().clock.now + ms).toISOString();
    const scopes = ['TOYS_READ', 'TOYS_WRITE', 'DOMAINS', 'KEYS'];
    const { key, token: short } = await made(token, { name: 'short', scopes, expiresAt: at(2_000) });
    const { expiresAt } = key;
    const endOf = async (answer: ReturnType<typeof ask>) => {
      const { createApiKey, rollApiKey } = (await answer).body.data;
      return (createApiKey ?? rollApiKey).key.expiresAt;
    };
    const wanted = { name: 'x', scopes: ['TOYS_READ'] };
    expect(await endOf(create(short, wanted))).toBe(expiresAt);
    expect(await endOf(create(short, { ...wanted, expiresAt: null }))).toBe(expiresAt);
    expect(await endOf(create(short, { ...wanted, expiresAt: at(HOUR_MS) }))).toBe(expiresAt);
    expect(await endOf(create(short, { ...wanted, expiresAt: at(1_000) }))).toBe(at(1_000));
    const roll = (sender: string, id: string, overlap: number) => endOf(ask(sender, ROLL, { id, overlap }));
    const other = (await made(token, wanted)).key;
    expect(await roll(short, other.id, 0)).toBe(expiresAt);
    expect(await roll(short, String(keyId), 3_600)).toBe(expiresAt);
    // The old key now ends with its overlap, and so do the keys that it makes.
    expect(await endOf(create(token, wanted))).toBe(at(HOUR_MS));
    expect(await roll(short, key.id, 3_600)).toBe(expiresAt);
  });

  test('Keys-GraphQL-15: a rolled key names its successor', async () => {
    const { token, keyId } = await app().tenant();
    const { key } = (await ask(token, ROLL, { id: String(keyId), overlap: 3_600 })).body.data.rollApiKey;
    const { apiKeys } = (await ask(token, '{ apiKeys { id replacedById } }')).body.data;
    expect(apiKeys).toEqual([
      { id: key.id, replacedById: null },
      { id: String(keyId), replacedById: key.id },
    ]);
  });

  test('Keys-GraphQL-16: a banned key says until when; the other keys of the project are not banned', async () => {
    const { token, slug } = await app().tenant();
    const { key, token: leaked } = await made(token, { name: 'leaked', scopes: ['TOYS_READ'] });
    const bans = async () => {
      const { apiKeys } = (await ask(token, '{ apiKeys { id bannedUntil } }')).body.data;
      return Object.fromEntries(
        apiKeys.map(({ id, bannedUntil }: Record<string, string>) => [id, bannedUntil]),
      );
    };
    expect(Object.values(await bans())).toEqual([null, null]);
    await app().app.services.projects.change(TEST_ACTOR, slug, {
      plan: 'ENTERPRISE',
      perMinute: 60,
      perDay: 1,
    });
    app().clock.now += 1_000;
    for (let sent = 0; sent < 60; sent += 1) {
      app().clock.now += HAMMERING_MS;
      await restStatus(leaked);
    }
    const { [key.id]: until, ...others } = await bans();
    expect(Date.parse(until)).toBeGreaterThan(app().clock.now);
    expect(Object.values(others)).toEqual([null]);
  });

  test('Keys-GraphQL-9: two simultaneous rolls of one key make one successor', async () => {
    const { token, keyId, projectId } = await app().tenant();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => ask(token, ROLL, { id: String(keyId), overlap: 60 })),
    );
    expect(answers.filter(({ body }) => body.data)).toHaveLength(1);
    expect(await app().db.repository(ApiKey).countBy({ projectId })).toBe(2);
  });

  test('Keys-GraphQL-10: revoking takes effect at once, a second revoke changes nothing, and a key may revoke itself', async () => {
    const { token, keyId } = await app().tenant();
    const { key, token: second } = await made(token, { name: 'second', scopes: ['TOYS_READ'] });
    expect(await restStatus(second)).toBe(200);
    const first = await ask(token, REVOKE, { id: key.id });
    expect(await restStatus(second)).toBe(401);
    app().clock.now += 1_000;
    const again = await ask(token, REVOKE, { id: key.id });
    expect(again.body.data.revokeApiKey.revokedAt).toBe(first.body.data.revokeApiKey.revokedAt);
    const own = await ask(token, REVOKE, { id: String(keyId) });
    expect(own.body.data.revokeApiKey).toMatchObject({ isCurrent: true, revokedAt: expect.any(String) });
    expect((await ask(token, LIST)).status).toBe(401);
  });

  test('Keys-GraphQL-11: a key that another process has just revoked cannot create a key', async () => {
    const { token, keyId, projectId } = await app().tenant();
    expect(await restStatus(token)).toBe(200);
    // Revoked by another process: this process may still cache the key for less than a second.
    await app().db.repository(ApiKey).update({ id: keyId }, { revokedAtMs: app().clock.now });
    expect(codeOf(await create(token, { name: 'x', scopes: ['KEYS'] }))).toBe('UNAUTHORIZED');
    expect(await app().db.repository(ApiKey).countBy({ projectId })).toBe(1);
  });

  test('Tenancy-6: an unknown id, an id of another project and a malformed id get the same answer', async () => {
    const mine: Tenant = await app().tenant();
    const theirs = await app().tenant();
    for (const query of [ROLL, REVOKE]) {
      const texts = [];
      for (const id of ['4503599627370496', String(theirs.keyId), 'nonsense']) {
        const answer = await ask(mine.token, query, { id });
        expect(codeOf(answer)).toBe('NOT_FOUND');
        texts.push(answer.text.replaceAll(id, 'ID'));
      }
      expect(new Set(texts).size).toBe(1);
    }
    expect(await restStatus(theirs.token)).toBe(200);
  });

  test('Keys-GraphQL-12: a project has at most 100 valid keys, also when many are created at once', async () => {
    const { token, projectId } = await app().tenant();
    for (let round = 0; round < 2; round += 1) {
      const input = { name: 'many', scopes: ['TOYS_READ'] };
      await Promise.all(Array.from({ length: 55 }, () => create(token, input)));
      nextMinute();
    }
    const keys = await app().db.repository(ApiKey).findBy({ projectId });
    expect(keys).toHaveLength(100);
    expect(codeOf(await create(token, { name: 'x', scopes: ['KEYS'] }))).toBe('CONFLICT');
    const id = String(keys.find(({ name }) => name === 'many')?.id);
    expect(codeOf(await ask(token, ROLL, { id }))).toBe('CONFLICT');
    const rolled = (await ask(token, ROLL, { id, overlap: 0 })).body.data.rollApiKey;
    await ask(token, REVOKE, { id: rolled.key.id });
    expect((await create(token, { name: 'x', scopes: ['KEYS'] })).body.data).toBeTruthy();
  });

  describe('with an Idempotency-Key', () => {
    const same = { 'idempotency-key': 'once' };

    test('Idempotency-14: a repeated createApiKey makes no second key, and the token is stored nowhere', async () => {
      const { token, projectId } = await app().tenant();
      const input = { name: 'x', scopes: ['TOYS_READ'] };
      const first = await create(token, input, same);
      const { token: shown, key } = first.body.data.createApiKey;
      const again = await create(token, input, same);
      expect(codeOf(again)).toBe('CONFLICT');
      expect(again.body.errors[0].message).toContain(key.id);
      expect(codeOf(await create(token, { ...input, name: 'y' }, same))).toBe('IDEMPOTENCY_MISMATCH');
      expect(await app().db.repository(ApiKey).countBy({ projectId })).toBe(2);
      const [row] = await app().db.repository(IdempotencyKey).findBy({ projectId });
      expect(row?.result).toBe(key.id);
      expect(JSON.stringify(row, (_, value) => String(value))).not.toContain(shown);
    });

    test('Idempotency-16: a repeated rollApiKey makes no second successor', async () => {
      const { token, keyId, projectId } = await app().tenant();
      const variables = { id: String(keyId), overlap: 60 };
      const { key } = (await ask(token, ROLL, variables, same)).body.data.rollApiKey;
      const again = await ask(token, ROLL, variables, same);
      expect(codeOf(again)).toBe('CONFLICT');
      expect(again.body.errors[0].message).toContain(key.id);
      expect(await app().db.repository(ApiKey).countBy({ projectId })).toBe(2);
    });
  });

  test('Keys-GraphQL-17: a rename is seen at once, keeps everything else, and is recorded once', async () => {
    const { token, keyId, projectId } = await app().tenant();
    const { key, token: second } = await made(token, { name: 'second', scopes: ['TOYS_READ'] });
    for (const name of HOSTILE_NAMES) {
      const { body } = await ask(token, RENAME, { id: key.id, name });
      expect(body.data.renameApiKey).toEqual({ ...key, name });
    }
    await ask(token, RENAME, { id: key.id, name: 'last' });
    await ask(token, RENAME, { id: key.id, name: 'last' });
    expect(await restStatus(second)).toBe(200);
    await ask(token, REVOKE, { id: key.id });
    const revoked = await ask(token, RENAME, { id: key.id, name: 'revoked' });
    expect(revoked.body.data.renameApiKey).toMatchObject({ name: 'revoked', revokedAt: expect.any(String) });
    const own = await ask(token, RENAME, { id: String(keyId), name: 'mine' });
    expect(own.body.data.renameApiKey).toMatchObject({ name: 'mine', isCurrent: true });
    const where = { projectId, action: 'key.rename' };
    const events = await app()
      .db.repository(AuditEvent)
      .find({ where, order: { id: 'ASC' } });
    expect(events.slice(-3).map(({ subject, detail }) => [subject, detail])).toEqual([
      [key.id, { from: HOSTILE_NAMES.at(-1), to: 'last' }],
      [key.id, { from: 'last', to: 'revoked' }],
      [String(keyId), { from: 'test', to: 'mine' }],
    ]);
    expect(events).toHaveLength(HOSTILE_NAMES.length + 3);
  });

  test('Keys-GraphQL-18: an invalid name is refused; a key of another project, and no key, are not found', async () => {
    const { token, keyId } = await app().tenant();
    const other = await app().tenant();
    for (const name of ['', '  ', 'x'.repeat(256), 'a\u0000b', '\ud800']) {
      expect(codeOf(await ask(token, RENAME, { id: String(keyId), name }))).toBe('INVALID_REQUEST');
    }
    for (const id of [String(other.keyId), '1', 'x', '']) {
      expect(codeOf(await ask(token, RENAME, { id, name: 'stolen' }))).toBe('NOT_FOUND');
    }
    const stored = await app().db.repository(ApiKey).findOneByOrFail({ id: other.keyId });
    expect(stored.name).toBe('test');
  });

  test('Idempotency-18: a repeated renameApiKey answers as the first and renames nothing', async () => {
    const { token, keyId } = await app().tenant();
    const same = { 'idempotency-key': 'rename' };
    const id = String(keyId);
    const first = await ask(token, RENAME, { id, name: 'one' }, same);
    await ask(token, RENAME, { id, name: 'two' });
    const again = await ask(token, RENAME, { id, name: 'one' }, same);
    expect(again.body.data).toEqual(first.body.data);
    expect(codeOf(await ask(token, RENAME, { id, name: 'three' }, same))).toBe('IDEMPOTENCY_MISMATCH');
    expect((await ask(token, LIST)).body.data.apiKeys[0].name).toBe('two');
  });

  test('Audit-2: acts on keys over GraphQL are recorded with key and request', async () => {
    const { token, keyId, projectId } = await app().tenant();
    const answer = await create(token, { name: 'x', scopes: ['TOYS_READ'] });
    const { id } = answer.body.data.createApiKey.key;
    await ask(token, ROLL, { id });
    await ask(token, REVOKE, { id });
    const events = await app()
      .db.repository(AuditEvent)
      .find({ where: { projectId, actor: `key:${keyId}` }, order: { id: 'ASC' } });
    expect(events.map(({ action }) => action)).toEqual([
      'key.create',
      'key.create',
      'key.roll',
      'key.revoke',
    ]);
    expect(events[0]).toMatchObject({ subject: id, requestId: answer.headers.get('x-request-id') });
  });

  test('Limits-30: a key may create 60 keys a minute; then the field is refused, not the request', async () => {
    const { token } = await app().tenant();
    nextMinute();
    const input = { name: '', scopes: ['TOYS_READ'] };
    const answers = await Promise.all(Array.from({ length: 61 }, () => create(token, input)));
    expect(answers.filter((answer) => codeOf(answer) === 'FIELD_RATE_LIMITED')).toHaveLength(1);
  });

  test('Keys-GraphQL-13: lastUsedAt is current in this process, costs no write per request, and survives a restart', async () => {
    const { token, keyId } = await app().tenant();
    const { keyUses } = app().app.services;
    const { key, token: second } = await made(token, { name: 'second', scopes: ['TOYS_READ'] });
    const lastUsed = async () =>
      (await ask(token, LIST)).body.data.apiKeys.find(({ id }: { id: string }) => id === key.id).lastUsedAt;
    expect(await lastUsed()).toBeNull();
    await Promise.all(Array.from({ length: 20 }, () => restStatus(second)));
    expect(Math.abs(Date.parse(await lastUsed()) - app().clock.now)).toBeLessThanOrEqual(10_000);
    expect(
      (
        await app()
          .db.repository(ApiKey)
          .findOneBy({ id: BigInt(key.id) })
      )?.lastUsedAtMs,
    ).toBeNull();
    await keyUses.flush();
    nextMinute();
    const before = await lastUsed();
    expect(Date.parse(before)).toBeGreaterThan(app().clock.now - 70_000 - 1);
    await restStatus(second);
    await keyUses.flush();
    expect(Date.parse(await lastUsed()) - Date.parse(before)).toBeGreaterThanOrEqual(50_000);
    expect((await app().db.repository(ApiKey).findOneBy({ id: keyId }))?.lastUsedAtMs).not.toBeNull();
  });

  test('Keys-GraphQL-20: a use that is stored late never sets lastUsedAt back', async () => {
    const { token, keyId } = await app().tenant();
    const rows = app().db.repository(ApiKey);
    const later = app().clock.now + 5_000;
    await restStatus(token);
    // Another process has seen the key since.
    await rows.update({ id: keyId }, { lastUsedAtMs: later });
    await app().app.services.keyUses.flush();
    expect((await rows.findOneBy({ id: keyId }))?.lastUsedAtMs).toBe(later);
  });
});

const HOSTILE_NAMES = [
  '<script>alert(1)</script>',
  '"><script>alert(document.cookie)</script>',
  "'><img src=x onerror=alert(1)>",
  '<img src=x onerror="alert(`1`)">',
  '<svg/onload=alert(1)>',
  '<svg><script>alert&#40;1&#41;</script></svg>',
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)//',
  'data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==',
  '<a href="javascript:alert(1)">x</a>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<body onload=alert(1)>',
  '<details open ontoggle=alert(1)>',
  '<style>@import "//evil.test/x.css";</style>',
  '<base href="//evil.test/">',
  '<meta http-equiv="refresh" content="0;url=//evil.test">',
  '</title></textarea></style><script>alert(1)</script>',
  '<!--<script>-->alert(1)<!--</script>-->',
  '{{constructor.constructor("alert(1)")()}}',
  ['$', '{alert(1)}'].join(''),
  '#{7*7}<%= 7*7 %>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '\u003cscript\u003ealert(1)\u003c/script\u003e',
  '<scr\tipt>alert(1)</scr\nipt>',
  '"; DROP TABLE api_keys; --',
  "' OR '1'='1",
  '__proto__',
  '=HYPERLINK("http://evil.test","x")',
  '\u202Etxt.exe\u200B\uFEFF',
  '😈 ＜script＞ %3Cscript%3E \\x3cscript\\x3e',
];
