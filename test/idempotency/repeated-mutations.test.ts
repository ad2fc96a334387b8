import { beforeEach, expect, test } from '@jest/globals';
import { publishedTenant } from '../support/domains/domain-rig.js';
import { attach } from '../support/domains/served-domain.js';
import { graphql } from '../support/http/client.js';
import { onEachDatabase } from '../support/on-databases.js';
import type { Tenant } from '../support/start-app.js';

interface Given {
  keyId: bigint;
  domainId: bigint;
}

/** Mutations with a key, each with a second one that must not count as the first. */
const MUTATIONS: Readonly<Record<string, (given: Given) => [first: string, other: string]>> = {
  'createApiKey with another expiry': () => [
    'createApiKey(input: {name: "a", scopes: [PETS_READ], expiresAt: "2999-01-01T00:00:00Z"}) { key { id } }',
    'createApiKey(input: {name: "a", scopes: [PETS_READ]}) { key { id } }',
  ],
  'createApiKey with other scopes': () => [
    'createApiKey(input: {name: "a", scopes: [PETS_READ]}) { key { id } }',
    'createApiKey(input: {name: "a", scopes: [PETS_READ, PETS_WRITE]}) { key { id } }',
  ],
  'rollApiKey with another overlap': ({ keyId }) => [
    `rollApiKey(id: "${keyId}") { key { id } }`,
    `rollApiKey(id: "${keyId}", overlapSeconds: 60) { key { id } }`,
  ],
  'renameApiKey after renameApiKey': ({ keyId }) => [
    `renameApiKey(id: "${keyId}", name: "a") { id }`,
    `renameApiKey(id: "${keyId}", name: "b") { id }`,
  ],
  'createPets after createPet of the same pet': () => [
    'createPet(input: {name: "Rex", categoryId: 1}) { id }',
    'createPets(inputs: [{name: "Rex", categoryId: 1}]) { id }',
  ],
  'createPets with another status': () => [
    'createPets(inputs: [{name: "Rex", categoryId: 1}]) { id }',
    'createPets(inputs: [{name: "Rex", categoryId: 1, status: sold}]) { id }',
  ],
};

onEachDatabase((app) => {
  let owner: Tenant;
  let given: Given;
  beforeEach(async () => {
    owner = await publishedTenant(app());
    const hostname = `${owner.slug}.example.com`;
    const { id: domainId } = await attach(app(), owner.projectId, { hostname, certificate: false });
    given = { keyId: owner.keyId, domainId };
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
});
