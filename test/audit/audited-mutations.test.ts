import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Scope } from '../../src/ground/kernel/caller.js';
import { AuditEvent } from '../../src/tenants/audit/audit-event.entity.js';
import { databaseKinds } from '../support/databases.js';
import { type DnsServerDouble, startDnsServer } from '../support/dns/dns-server.js';
import { PLATFORM_HOST, publishedTenant } from '../support/domains/domain-rig.js';
import { attach } from '../support/domains/served-domain.js';
import { SCOPES, toysSchema } from '../support/gateway/tested-gateway.js';
import { graphql } from '../support/http/client.js';
import { startApp, TEST_ACTOR, type Tenant, type TestApp } from '../support/start-app.js';

interface Given {
  keyId: bigint;
  toyId: bigint;
  domainId: bigint;
  hostname: string;
}

interface Row {
  mutation: (given: Given) => string;
  scope: Scope;
  /** The acts that one call leaves, oldest first. */
  acts: readonly string[];
}

/** Toys are the project's data; the request log names their changes. A check changes nothing that the owner has set. D-177. */
const NONE: readonly string[] = [];

/** Each mutation of the schema, the scope that it needs, and the acts that one call leaves in the audit log. */
const MUTATIONS: Readonly<Record<string, Row>> = {
  createToy: {
    mutation: () => 'createToy(input: {name: "Rex", categoryId: 1}) { id }',
    scope: 'toys:write',
    acts: NONE,
  },
  createToys: {
    mutation: () => 'createToys(inputs: [{name: "Rex", categoryId: 1}]) { id }',
    scope: 'toys:write',
    acts: NONE,
  },
  updateToy: {
    mutation: ({ toyId }) => `updateToy(id: "${toyId}", input: {name: "Max"}) { id }`,
    scope: 'toys:write',
    acts: NONE,
  },
  deleteToy: { mutation: ({ toyId }) => `deleteToy(id: "${toyId}") { id }`, scope: 'toys:write', acts: NONE },
  createApiKey: {
    mutation: () => 'createApiKey(input: {name: "Checkout", scopes: [TOYS_READ]}) { key { id } }',
    scope: 'keys',
    acts: ['key.create'],
  },
  renameApiKey: {
    mutation: ({ keyId }) => `renameApiKey(id: "${keyId}", name: "new") { id }`,
    scope: 'keys',
    acts: ['key.rename'],
  },
  // Each of the two keys has an act: the history of every key begins with its creation.
  rollApiKey: {
    mutation: ({ keyId }) => `rollApiKey(id: "${keyId}") { key { id } }`,
    scope: 'keys',
    acts: ['key.create', 'key.roll'],
  },
  revokeApiKey: {
    mutation: ({ keyId }) => `revokeApiKey(id: "${keyId}") { id }`,
    scope: 'keys',
    acts: ['key.revoke'],
  },
  // A key that is not banned stays as it is; Management-14 lifts a ban.
  unbanApiKey: {
    mutation: ({ keyId }) => `unbanApiKey(id: "${keyId}") { id }`,
    scope: 'keys',
    acts: NONE,
  },
  recordImport: {
    mutation: () => 'recordImport(resource: "toys", file: "toys.csv", imported: 2, refused: 1) { slug }',
    scope: 'toys:write',
    acts: ['toys.import'],
  },
  publishProject: { mutation: () => 'publishProject { slug }', scope: 'domains', acts: ['project.publish'] },
  addDomain: {
    mutation: () => 'addDomain(hostname: "new.customer.test") { id }',
    scope: 'domains',
    acts: ['domain.add'],
  },
  verifyDomain: {
    mutation: ({ domainId }) => `verifyDomain(id: "${domainId}") { id }`,
    scope: 'domains',
    acts: NONE,
  },
  reverifyDomain: {
    mutation: ({ domainId }) => `reverifyDomain(id: "${domainId}") { id }`,
    scope: 'domains',
    acts: NONE,
  },
  setDomains: {
    mutation: ({ hostname }) => `setDomains(input: {primary: "${hostname}", redirects: []}) { primary }`,
    scope: 'domains',
    acts: ['domain.configure'],
  },
  removeDomain: {
    mutation: ({ domainId }) => `removeDomain(id: "${domainId}") { id }`,
    scope: 'domains',
    acts: ['domain.remove'],
  },
};

test('Audit-9: each mutation of the schema says which acts it leaves', async () => {
  const schema = await toysSchema();
  const fields = Object.keys(schema.getMutationType()?.getFields() ?? {});
  expect(Object.keys(MUTATIONS).sort()).toEqual(fields.sort());
});

describe.each(databaseKinds())('on %s', (kind) => {
  let dns: DnsServerDouble;
  let app: TestApp;
  let owner: Tenant;
  let given: Given;

  beforeAll(async () => {
    dns = await startDnsServer();
    dns.zone('customer.test');
    dns.zone(PLATFORM_HOST);
    const env = {
      PLATFORM_HOST,
      DNS_SERVERS: dns.hostPort,
      DNS_NAME_SERVER_PORT: String(dns.port),
      DNS_PRIVATE_NAME_SERVERS: '1',
      SECRET_KEY: 'ab'.repeat(32),
    };
    app = await startApp({ kind, env });
  });
  beforeEach(async () => {
    owner = await publishedTenant(app);
    const hostname = `${owner.slug}.customer.test`;
    const { id: domainId } = await attach(app, owner.projectId, { hostname });
    const { body } = await ask('mutation { createToy(input: {name: "Rex", categoryId: 1}) { id } }');
    given = { keyId: owner.keyId, toyId: BigInt(body.data.createToy.id), domainId, hostname };
  });
  afterAll(async () => {
    await app.stop();
    await dns.stop();
  });

  const ask = (query: string, { token } = owner) => graphql(app.url, query, { token });
  const events = () =>
    app.db.repository(AuditEvent).find({ where: { projectId: owner.projectId }, order: { id: 'ASC' } });

  test.each(Object.entries(MUTATIONS))(
    'Audit-10: %s leaves exactly its acts',
    async (_, { mutation, acts }) => {
      const before = await events();
      const { body, headers } = await ask(`mutation { ${mutation(given)} }`);
      expect(body.errors).toBeUndefined();
      const left = (await events()).slice(before.length);
      expect(left.map(({ action }) => action)).toEqual(acts);
      for (const { actor, action, subject, requestId } of left) {
        expect([actor, requestId]).toEqual([`key:${owner.keyId}`, headers.get('x-request-id')]);
        if (action.startsWith('domain.')) expect(subject).toMatch(/\.customer\.test$/);
      }
    },
  );

  test.each(Object.entries(MUTATIONS))(
    'Auth-4: %s is FORBIDDEN for a key that lacks only its scope, and leaves no act',
    async (_, { mutation, scope }) => {
      const { apiKeys } = app.app.services;
      const scopes = SCOPES.filter((other) => other !== scope);
      const wanted = { projectId: owner.projectId, name: 'weak', scopes, expiresAtMs: null };
      const { token } = await apiKeys.create(TEST_ACTOR, wanted);
      const before = await events();
      const { body } = await ask(`mutation { ${mutation(given)} }`, { ...owner, token });
      expect(body.errors[0].extensions.code).toBe('FORBIDDEN');
      expect(await events()).toEqual(before);
    },
  );

  test('Audit-15: a stated import is one act with its Idempotency-Key, and names every wrong argument', async () => {
    const state = (given: string) =>
      graphql(app.url, `mutation { recordImport(${given}) { slug } }`, {
        token: owner.token,
        headers: { 'idempotency-key': 'import-end' },
      });
    const wrong = await state(`resource: "cats", file: "${'x'.repeat(256)}", imported: -1, refused: -2`);
    const { code, errors } = wrong.body.errors[0].extensions;
    expect([code, errors.map(({ field }: { field: string }) => field)]).toEqual([
      'INVALID_REQUEST',
      ['resource', 'file', 'imported', 'refused'],
    ]);
    expect(errors[0].message).toBe('must be toys (got "cats")');
    const right = 'resource: "toys", file: "toys.csv", imported: 2, refused: 1';
    const answers = [await state(right), await state(right)];
    expect(answers.map(({ body }) => body.data.recordImport.slug)).toEqual([owner.slug, owner.slug]);
    const acts = (await events()).filter(({ action }) => action === 'toys.import');
    expect(acts.map(({ subject, detail }) => [subject, detail])).toEqual([
      ['toys.csv', { imported: 2, refused: 1 }],
    ]);
  });
});
