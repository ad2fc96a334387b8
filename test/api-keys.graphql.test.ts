import { describe, expect, test } from '@jest/globals';
import { ApiKey } from '../src/api-keys/api-key.entity.js';
import { AuditEvent } from '../src/audit/audit-event.entity.js';
import { SCOPES } from '../src/caller.js';
import { IdempotencyKey } from '../src/idempotency/idempotency-key.entity.js';
import { HOUR_MS } from './support/charges.js';
import { graphql, rest } from './support/client.js';
import { onEachDatabase } from './support/on-databases.js';
import { TEST_ACTOR, type Tenant } from './support/start-app.js';

const KEY = 'id name prefix scopes createdAt expiresAt revokedAt lastUsedAt isCurrent';
const CREATE = `mutation ($input: NewApiKey!) { createApiKey(input: $input) { token key { ${KEY} } } }`;
const ROLL = `mutation ($id: ID!, $overlap: Int) { rollApiKey(id: $id, overlapSeconds: $overlap) { token key { ${KEY} } } }`;
const REVOKE = `mutation ($id: ID!) { revokeApiKey(id: $id) { ${KEY} } }`;
const LIST = `{ apiKeys { ${KEY} } }`;
const DAY_MS = 24 * HOUR_MS;

onEachDatabase((app) => {
  const ask = (token: string, query: string, variables = {}, headers = {}) =>
    graphql(app().url, query, { token, variables, headers });
  const create = (token: string, input: object, headers = {}) => ask(token, CREATE, { input }, headers);
  const made = async (token: string, input: object) => (await create(token, input)).body.data.createApiKey;
  const codeOf = ({ body }: { body: { errors?: { extensions: { code: string } }[] } }) =>
    body.errors?.[0]?.extensions.code;
  const restStatus = async (token: string) => (await rest(app().url, '/v1/pets', { token })).status;
  /** Later than the second in which a key is known from memory, and the minute of `@rateLimit`. */
  const nextMinute = () => {
    app().clock.now += 60_000;
  };

  test('Keys: apiKey tells any key about itself, without a scope', async () => {
    const { token, keyId } = await app().tenant({ scopes: ['pets:read'] });
    const { body } = await ask(token, `{ apiKey { ${KEY} } }`);
    expect(body.data.apiKey).toEqual({
      id: String(keyId),
      name: 'test',
      prefix: token.slice(0, 9),
      scopes: ['PETS_READ'],
      createdAt: new Date(app().clock.now).toISOString(),
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: new Date(app().clock.now).toISOString(),
      isCurrent: true,
    });
  });

  test('Keys: a key made over GraphQL works at both doors, and only its digest is stored', async () => {
    const { token } = await app().tenant();
    const expiresAt = new Date(app().clock.now + HOUR_MS).toISOString();
    const { key, token: second } = await made(token, {
      name: 'second',
      scopes: ['KEYS', 'PETS_READ', 'KEYS'],
      expiresAt,
    });
    expect(key).toMatchObject({
      name: 'second',
      scopes: ['PETS_READ', 'KEYS'],
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
    ['createApiKey', CREATE, { input: { name: 'x', scopes: ['PETS_READ'] } }],
    ['rollApiKey', ROLL, { id: '1' }],
    ['revokeApiKey', REVOKE, { id: '1' }],
  ])('Scopes: %s needs the scope keys', async (_, query, variables) => {
    const { token } = await app().tenant({ scopes: ['pets:read', 'pets:write', 'domains'] });
    expect(codeOf(await ask(token, query, variables))).toBe('FORBIDDEN');
  });

  test('Scopes: a key gives no scope that it lacks itself, neither by creating nor by rolling', async () => {
    const { token, projectId } = await app().tenant({ scopes: ['keys', 'pets:read'] });
    for (const scopes of [['PETS_WRITE'], ['PETS_READ', 'DOMAINS'], ['KEYS', 'PETS_WRITE']]) {
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
    expect((await made(token, { name: 'x', scopes: ['KEYS', 'PETS_READ'] })).key.scopes).toEqual([
      'PETS_READ',
      'KEYS',
    ]);
  });

  test('Keys: wrong input names each field and makes nothing', async () => {
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

  test('Keys: names come back as they were given, whatever they hold', async () => {
    const { token } = await app().tenant();
    for (const name of HOSTILE_NAMES) {
      expect((await made(token, { name, scopes: ['PETS_READ'] })).key.name).toBe(name);
    }
    const { body } = await ask(token, LIST);
    const names = body.data.apiKeys.map(({ name }: { name: string }) => name);
    expect(names).toEqual([...HOSTILE_NAMES.toReversed(), 'test']);
  });

  test('Keys: the list is newest first, of this project alone, with ended keys for 30 days', async () => {
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

  test('Keys: after rolling both keys work, and the old one ends with its overlap', async () => {
    const { token, keyId } = await app().tenant();
    const start = app().clock.now;
    const { key, token: next } = (await ask(token, ROLL, { id: String(keyId), overlap: 3_600 })).body.data
      .rollApiKey;
    expect(key).toMatchObject({ name: 'test', scopes: ['PETS_READ', 'PETS_WRITE', 'DOMAINS', 'KEYS'] });
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

  test('Keys: two rolls of one key at once make one successor', async () => {
    const { token, keyId, projectId } = await app().tenant();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => ask(token, ROLL, { id: String(keyId), overlap: 60 })),
    );
    expect(answers.filter(({ body }) => body.data)).toHaveLength(1);
    expect(await app().db.repository(ApiKey).countBy({ projectId })).toBe(2);
  });

  test('Keys: revoking counts at once, twice changes nothing, and a key may end itself', async () => {
    const { token, keyId } = await app().tenant();
    const { key, token: second } = await made(token, { name: 'second', scopes: ['PETS_READ'] });
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

  test('Keys: a key that was revoked this moment elsewhere makes no other one', async () => {
    const { token, keyId, projectId } = await app().tenant();
    expect(await restStatus(token)).toBe(200);
    // Another process: this one still knows the key for less than a second.
    await app().db.repository(ApiKey).update({ id: keyId }, { revokedAtMs: app().clock.now });
    expect(codeOf(await create(token, { name: 'x', scopes: ['KEYS'] }))).toBe('UNAUTHORIZED');
    expect(await app().db.repository(ApiKey).countBy({ projectId })).toBe(1);
  });

  test('Tenancy: an unknown id, a foreign id and one that is no number answer alike', async () => {
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

  test('Keys: at most 100 keys of a project are in force, also when many are made at once', async () => {
    const { token, projectId } = await app().tenant();
    for (let round = 0; round < 2; round += 1) {
      const input = { name: 'many', scopes: ['PETS_READ'] };
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

    test('Idempotency: a repeated createApiKey makes no second key, and the token is stored nowhere', async () => {
      const { token, projectId } = await app().tenant();
      const input = { name: 'x', scopes: ['PETS_READ'] };
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

    test('Idempotency: after a crash before the answer was stored, a repetition makes no second key', async () => {
      const { token, projectId } = await app().tenant();
      const input = { name: 'x', scopes: ['PETS_READ'] };
      await create(token, input, same);
      await app().db.repository(IdempotencyKey).update({ projectId }, { result: null });
      app().clock.now += 11_000;
      for (let attempt = 0; attempt < 2; attempt += 1) {
        expect(codeOf(await create(token, input, same))).toBe('CONFLICT');
      }
      expect(await app().db.repository(ApiKey).countBy({ projectId })).toBe(2);
    });

    test('Idempotency: a repeated rollApiKey makes no second successor', async () => {
      const { token, keyId, projectId } = await app().tenant();
      const variables = { id: String(keyId), overlap: 60 };
      const { key } = (await ask(token, ROLL, variables, same)).body.data.rollApiKey;
      const again = await ask(token, ROLL, variables, same);
      expect(codeOf(again)).toBe('CONFLICT');
      expect(again.body.errors[0].message).toContain(key.id);
      expect(await app().db.repository(ApiKey).countBy({ projectId })).toBe(2);
    });
  });

  test('Audit: what was done to keys over GraphQL is on record with key and request', async () => {
    const { token, keyId, projectId } = await app().tenant();
    const answer = await create(token, { name: 'x', scopes: ['PETS_READ'] });
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

  test('Limits: 60 keys a minute may be made, then the field is refused and not the request', async () => {
    const { token } = await app().tenant();
    nextMinute();
    const input = { name: '', scopes: ['PETS_READ'] };
    const answers = await Promise.all(Array.from({ length: 61 }, () => create(token, input)));
    expect(answers.filter((answer) => codeOf(answer) === 'FIELD_RATE_LIMITED')).toHaveLength(1);
  });

  test('Keys: lastUsedAt is known at once here, costs no write per request, and survives', async () => {
    const { token, keyId } = await app().tenant();
    const { keyUses } = app().app.services;
    const { key, token: second } = await made(token, { name: 'second', scopes: ['PETS_READ'] });
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
