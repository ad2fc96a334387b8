import { beforeAll, describe, expect, test } from '@jest/globals';
import { Database } from '../../src/ground/database/database.js';
import type { Scope } from '../../src/ground/kernel/caller.js';
import { ApiKey } from '../../src/tenants/api-keys/api-key.entity.js';
import { isToken, newToken } from '../../src/tenants/api-keys/token.js';
import { AuditEvent } from '../../src/tenants/audit/audit-event.entity.js';
import { createServices, DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';
import { graphql, rest } from '../support/http/client.js';
import { onAnyDatabase } from '../support/on-databases.js';
import { startApp, TEST_ACTOR, type Tenant } from '../support/start-app.js';

const HOUR_MS = 3_600_000;

describe('bearer tokens', () => {
  test('Keys-1: a token is pk_, 160 random bits and a checksum; any changed character is detected', () => {
    const tokens = new Set(Array.from({ length: 1_000 }, newToken));
    expect(tokens.size).toBe(1_000);
    for (const token of tokens) {
      expect(token).toMatch(/^pk_[0-9A-Za-z]{33}$/);
      expect(isToken(token)).toBe(true);
    }
    // Fewer random bits would leave zeros at the beginning; of 160 bits one token of 40 begins so.
    expect([...tokens].filter((token) => token.startsWith('pk_0')).length).toBeLessThan(100);
    const token = newToken();
    for (let index = 3; index < token.length; index += 1) {
      const other = token[index] === 'A' ? 'B' : 'A';
      expect(isToken(token.slice(0, index) + other + token.slice(index + 1))).toBe(false);
    }
  });
});

onAnyDatabase((app, kind) => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await app().tenant();
  });
  const doors = async (token: string | null, headers: Record<string, string> = {}) => ({
    rest: await rest(app().url, '/v1/toys', { token, headers }),
    graphql: await graphql(app().url, '{ project { slug } }', { token, headers }),
  });

  test("Auth-1: anything but a valid key answers 401 in each door's own form, with the same words", async () => {
    const { services } = app().app;
    const issue = (expiresAtMs: number | null) =>
      services.apiKeys.create(TEST_ACTOR, {
        projectId: tenant.projectId,
        name: 'x',
        scopes: ['toys:read'],
        expiresAtMs,
      });
    const revoked = await issue(null);
    await services.apiKeys.revoke(TEST_ACTOR, revoked.key.id);
    const expired = await issue(app().clock.now + 1);
    app().clock.now += 1;
    const attempts: [string | null, Record<string, string>][] = [
      [null, {}],
      [revoked.token, {}],
      [expired.token, {}],
      [newToken(), {}],
      ['pk_short', {}],
      [`${tenant.token}x`, {}],
      [null, { authorization: tenant.token }],
      [null, { authorization: `Basic ${tenant.token}` }],
      [null, { authorization: 'Bearer' }],
      [null, { authorization: `Bearer ${tenant.token} ${tenant.token}` }],
      [null, { 'x-api-key': tenant.token }],
    ];
    const seen = new Set<string>();
    for (const [token, headers] of attempts) {
      const answers = await doors(token, headers);
      expect([answers.rest.status, answers.graphql.status]).toEqual([401, 401]);
      expect(answers.rest.body).toEqual({ code: 'unauthorized', message: expect.any(String), status: 401 });
      expect(answers.graphql.body).toEqual({
        errors: [{ message: answers.rest.body.message, extensions: { code: 'UNAUTHORIZED', status: 401 } }],
      });
      for (const { headers } of Object.values(answers)) {
        expect(headers.get('www-authenticate')).toBe('Bearer realm="petstore"');
      }
      seen.add(answers.rest.text);
    }
    expect(seen.size).toBe(1);
  });

  test('Auth-2: the scheme is case-insensitive, and a key that has not expired is accepted', async () => {
    const answers = await doors(null, { authorization: `bEaReR  ${tenant.token}` });
    expect([answers.rest.status, answers.graphql.status]).toEqual([200, 200]);
  });

  test('Keys-2: only a digest is stored, and no table holds the token', async () => {
    const keys = await app().db.repository(ApiKey).find();
    expect(keys.length).toBeGreaterThan(0);
    const stored = JSON.stringify(keys, (_, value) => (typeof value === 'bigint' ? String(value) : value));
    expect(stored).not.toContain(tenant.token);
    expect(stored).not.toContain(tenant.token.slice(-24));
    expect(
      JSON.stringify((await app().db.repository(AuditEvent).find()).map(({ detail }) => detail)),
    ).not.toContain(tenant.token);
  });

  test('Keys-3: revoking takes effect at once in this process, and within a second in another', async () => {
    const { key, token } = await app().app.services.apiKeys.create(TEST_ACTOR, {
      projectId: tenant.projectId,
      name: 'x',
      scopes: ['toys:read'],
      expiresAtMs: null,
    });
    const otherDb = await Database.open(app().config.database, DATABASE_SCHEMA);
    try {
      const other = createServices(otherDb, () => app().clock.now);
      expect(await other.apiKeys.identify(token)).not.toBeNull();
      expect((await doors(token)).rest.status).toBe(200);
      await app().app.services.apiKeys.revoke(TEST_ACTOR, key.id);
      expect((await doors(token)).rest.status).toBe(401);
      app().clock.now += 1_000;
      expect(await other.apiKeys.identify(token)).toBeNull();
    } finally {
      await otherDb.close();
    }
  });

  test('Keys-4: a rolled key works until its overlap ends, never beyond its own expiry', async () => {
    const { apiKeys } = app().app.services;
    const wanted = { projectId: tenant.projectId, name: 'rolled', scopes: ['toys:read'] as Scope[] };
    const start = app().clock.now;
    const old = await apiKeys.create(TEST_ACTOR, { ...wanted, expiresAtMs: null });
    const next = await apiKeys.roll(TEST_ACTOR, old.key.id, HOUR_MS);
    expect(next.key).toMatchObject({ name: 'rolled', scopes: 'toys:read', expiresAtMs: null });
    await expect(apiKeys.roll(TEST_ACTOR, old.key.id, 0)).rejects.toThrow(/Roll that key instead/);

    const brief = await apiKeys.create(TEST_ACTOR, { ...wanted, expiresAtMs: start + 1_000 });
    await apiKeys.roll(TEST_ACTOR, brief.key.id, HOUR_MS);
    app().clock.now = start + 999;
    expect((await doors(brief.token)).rest.status).toBe(200);
    app().clock.now = start + 1_000;
    expect((await doors(brief.token)).rest.status).toBe(401);

    app().clock.now = start + HOUR_MS - 1;
    expect([(await doors(old.token)).rest.status, (await doors(next.token)).rest.status]).toEqual([200, 200]);
    app().clock.now = start + HOUR_MS;
    expect([(await doors(old.token)).rest.status, (await doors(next.token)).rest.status]).toEqual([401, 200]);
    await expect(apiKeys.roll(TEST_ACTOR, brief.key.id, 0)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('Keys-5: a wrong checksum costs no query; a busy key costs about one query a second', async () => {
    const queries: string[] = [];
    const quiet = await startApp({ kind, onQuery: (sql) => queries.push(sql) });
    try {
      const { token } = await quiet.tenant();
      queries.length = 0;
      await rest(quiet.url, '/v1/toys', { token: `pk_${'A'.repeat(33)}` });
      expect(queries.filter((sql) => sql.includes('api_keys'))).toEqual([]);
      await Promise.all(Array.from({ length: 20 }, () => rest(quiet.url, '/v1/toys', { token })));
      expect(queries.filter((sql) => sql.includes('api_keys'))).toHaveLength(1);
    } finally {
      await quiet.stop();
    }
  });

  test('Audit-1: creating, rolling and revoking are recorded with the actor and the time', async () => {
    const { apiKeys } = app().app.services;
    const owner = await app().tenant();
    const { key } = await apiKeys.roll(TEST_ACTOR, owner.keyId, 0);
    await apiKeys.revoke(TEST_ACTOR, key.id);
    const events = await app()
      .db.repository(AuditEvent)
      .find({
        where: { projectId: owner.projectId },
        order: { id: 'ASC' },
      });
    expect(events.map(({ action, actor, subject }) => [action, actor, subject])).toEqual([
      ['project.create', 'test', owner.slug],
      ['key.create', 'test', String(owner.keyId)],
      ['key.create', 'test', String(key.id)],
      ['key.roll', 'test', String(owner.keyId)],
      ['key.revoke', 'test', String(key.id)],
    ]);
  });
});
