import { beforeEach, expect, test } from '@jest/globals';
import { ApiKey } from '../../src/tenants/api-keys/api-key.entity.js';
import { IdempotencyKey } from '../../src/tenants/idempotency/idempotency-key.entity.js';
import { publishedTenant } from '../support/domains/domain-rig.js';
import { attach } from '../support/domains/served-domain.js';
import { graphql } from '../support/http/client.js';
import { Toy } from '../support/nouns/toys.js';
import { onEachDatabase } from '../support/on-databases.js';
import type { Tenant } from '../support/start-app.js';

interface Given {
  keyId: bigint;
  toyId: bigint;
  domainId: bigint;
}

/** Mutations with a key, each with a second one that must not count as the first. */
const MUTATIONS: Readonly<Record<string, (given: Given) => [first: string, other: string]>> = {
  'createApiKey with another expiry': () => [
    'createApiKey(input: {name: "a", scopes: [TOYS_READ], expiresAt: "2999-01-01T00:00:00Z"}) { key { id } }',
    'createApiKey(input: {name: "a", scopes: [TOYS_READ]}) { key { id } }',
  ],
  'createApiKey with other scopes': () => [
    'createApiKey(input: {name: "a", scopes: [TOYS_READ]}) { key { id } }',
    'createApiKey(input: {name: "a", scopes: [TOYS_READ, TOYS_WRITE]}) { key { id } }',
  ],
  'rollApiKey with another overlap': ({ keyId }) => [
    `rollApiKey(id: "${keyId}") { key { id } }`,
    `rollApiKey(id: "${keyId}", overlapSeconds: 60) { key { id } }`,
  ],
  'renameApiKey after renameApiKey': ({ keyId }) => [
    `renameApiKey(id: "${keyId}", name: "a") { id }`,
    `renameApiKey(id: "${keyId}", name: "b") { id }`,
  ],
  'createToys after createToy of the same toy': () => [
    'createToy(input: {name: "Rex", categoryId: 1}) { id }',
    'createToys(inputs: [{name: "Rex", categoryId: 1}]) { id }',
  ],
  'createToys with another status': () => [
    'createToys(inputs: [{name: "Rex", categoryId: 1}]) { id }',
    'createToys(inputs: [{name: "Rex", categoryId: 1, status: sold}]) { id }',
  ],
};

/** Without the last use, which requests change. */
const KEPT_OF_KEYS = { id: true, name: true, expiresAtMs: true, successorId: true } as const;

/** Mutations of which the transaction stores the answer. */
const IN_ONE_TRANSACTION: Readonly<Record<string, (given: Given) => string>> = {
  createToy: () => 'createToy(input: {name: "Max", categoryId: 1}) { id }',
  createToys: () => 'createToys(inputs: [{name: "Max", categoryId: 1}]) { id }',
  updateToy: ({ toyId }) => `updateToy(id: "${toyId}", input: {name: "Max"}) { id name }`,
  deleteToy: ({ toyId }) => `deleteToy(id: "${toyId}") { id }`,
  createApiKey: () => 'createApiKey(input: {name: "a", scopes: [TOYS_READ]}) { key { id } }',
  rollApiKey: ({ keyId }) => `rollApiKey(id: "${keyId}", overlapSeconds: 60) { key { id } }`,
};

/** Makes the database refuse stored answers. */
const REFUSE_ANSWERS = {
  sqlite: `CREATE TRIGGER no_answers BEFORE UPDATE ON idempotency_keys WHEN NEW.result IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'no answers'); END`,
  mysql: `CREATE TRIGGER no_answers BEFORE UPDATE ON idempotency_keys FOR EACH ROW
    BEGIN IF NEW.result IS NOT NULL THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no answers'; END IF; END`,
};

onEachDatabase((app, kind) => {
  let owner: Tenant;
  let given: Given;
  beforeEach(async () => {
    owner = await publishedTenant(app());
    const hostname = `${owner.slug}.example.com`;
    const { id: domainId } = await attach(app(), owner.projectId, { hostname, certificate: false });
    const toy = {
      projectId: owner.projectId,
      id: 4711n,
      name: 'Rex',
      categoryId: 1n,
      status: null,
      createdAtMs: 0,
    };
    await app().db.repository(Toy).insert(toy);
    given = { keyId: owner.keyId, domainId, toyId: toy.id };
  });
  const mutate = (mutation: string) =>
    graphql(app().url, `mutation { it: ${mutation} }`, {
      token: owner.token,
      headers: { 'idempotency-key': 'same' },
    });

  test.each(Object.entries(MUTATIONS))(
    'Idempotency-30: %s answers IDEMPOTENCY_MISMATCH',
    async (_, inputs) => {
      const [first, other] = inputs(given);
      expect((await mutate(first)).body.errors).toBeUndefined();
      expect((await mutate(other)).body.errors[0].extensions.code).toBe('IDEMPOTENCY_MISMATCH');
    },
  );

  test('Idempotency-31: a repeated removeDomain answers as the first, although the domain is gone', async () => {
    const removal = `removeDomain(id: "${given.domainId}") { id hostname stoppedAt }`;
    const first = await mutate(removal);
    expect(first.body.errors).toBeUndefined();
    app().clock.now += 60_000;
    expect((await mutate(removal)).body).toEqual(first.body);
  });

  test.each(Object.entries(IN_ONE_TRANSACTION))(
    'Idempotency-26: %s does nothing when its answer cannot be stored, and the next attempt does it once',
    async (_, mutation) => {
      const { projectId } = owner;
      const stored = async () => [
        await app().db.repository(Toy).findBy({ projectId }),
        await app().db.repository(ApiKey).find({ where: { projectId }, select: KEPT_OF_KEYS }),
      ];
      const before = await stored();
      const rows = app().db.repository(IdempotencyKey);
      await rows.query(REFUSE_ANSWERS[kind === 'sqlite' ? 'sqlite' : 'mysql']);
      const failed = await mutate(mutation(given)).finally(() => rows.query('DROP TRIGGER no_answers'));
      expect(failed.body.errors[0].extensions.code).toBe('INTERNAL');
      expect(await stored()).toEqual(before);
      expect((await mutate(mutation(given))).body.errors).toBeUndefined();
      const done = await stored();
      expect(done).not.toEqual(before);
      await mutate(mutation(given));
      expect(await stored()).toEqual(done);
    },
  );
});
