import type { CountedRequest } from '../../src/ground/kernel/answered-request.js';
import { BUCKETS } from '../../src/tenants/usage/buckets.js';
import {
  type DomainRig,
  ownerOf,
  PLATFORM_HOST,
  publishedTenant,
} from '../../test/support/domains/domain-rig.js';
import { TEST_ACTOR, type Tenant } from '../../test/support/start-app.js';
import { countedRequest } from '../../test/support/usage/counted-request.js';
import { logRequests } from './logged-requests.js';

export interface LivedInProject extends Tenant {
  domains: { active: string; pending: string; failed: string };
}

/**
 * Creates a project with data for every page: pets, keys, traffic, and domains in three states. `target`: the host that the
 * domains point to.
 */
export async function livedInProject(rig: DomainRig, target = PLATFORM_HOST): Promise<LivedInProject> {
  const tenant = await publishedTenant(rig, { plan: 'BUSINESS' });
  await seedPets(rig, tenant);
  await seedTraffic(rig, tenant, await seedKeys(rig, tenant));
  await seedRequests(rig, tenant);
  return { ...tenant, domains: await seedDomains(rig, tenant, target) };
}

async function seedPets(rig: DomainRig, { token }: Tenant): Promise<void> {
  const names = ['Rex', 'Luna', 'Königspudel Maximilian von und zu Hohenstein', 'Bella', '猫のミケ', 'Oscar'];
  const statuses = ['available', 'pending', 'sold', null] as const;
  const { ask } = ownerOf(rig, { token });
  for (let index = 0; index < 32; index += 1) {
    const input = {
      name: `${names[index % names.length]}`,
      categoryId: index === 3 ? '9223372036854775807' : `${1 + (index % 4)}`,
      status: statuses[index % statuses.length],
    };
    await ask('mutation($input: NewPet!) { createPet(input: $input) { id } }', { input });
  }
}

/** Returns the ids of those that send requests. */
async function seedKeys(rig: DomainRig, { projectId }: Tenant): Promise<[bigint, bigint]> {
  const { apiKeys } = rig.app.services;
  const wanted = { projectId, scopes: ['pets:read'] as const, expiresAtMs: Date.now() + 40 * 86_400_000 };
  const storefront = await apiKeys.create(TEST_ACTOR, { ...wanted, name: 'storefront, production' });
  const { key } = await apiKeys.create(TEST_ACTOR, { ...wanted, name: 'nightly import', expiresAtMs: null });
  await apiKeys.revoke(TEST_ACTOR, key.id);
  return [storefront.key.id, key.id];
}

/** Of every five requests. */
const TRAFFIC: Partial<CountedRequest>[] = [
  { door: 'graphql', operation: 'Storefront', units: 2, durationMs: 12 },
  { door: 'graphql', operation: 'Storefront', units: 2, durationMs: 9 },
  { door: 'rest', operation: 'listPets', durationMs: 4 },
  { door: 'rest', operation: 'createPet', status: 201, durationMs: 31 },
  { door: 'rest', operation: 'getPet', status: 404, outcome: 'failed', durationMs: 2 },
];
const REFUSED: Partial<CountedRequest> = { status: 429, outcome: 'refused', units: 0, durationMs: 0.3 };

/** Counts requests of the past: sending an hour, a day and a month of them would take too long. */
async function seedTraffic(
  rig: DomainRig,
  { projectId }: Tenant,
  [often, seldom]: readonly [bigint, bigint],
): Promise<void> {
  const { usage } = rig.app.services;
  const now = Date.now();
  for (const [bucket, requests, points] of [
    ['minute', 25, 59],
    ['hour', 70, 23],
    ['day', 900, 29],
  ] as const) {
    for (let age = 1; age <= points; age += 1) {
      const atMs = now - age * BUCKETS[bucket].sizeMs;
      const wave = Math.round((Math.sin(age / 4) + 1.3) * requests);
      for (let sent = 0; sent < wave; sent += 1) {
        const keyId = sent % 7 === 0 ? seldom : often;
        const refused = age % 11 < 3 && sent % 9 === 0 ? REFUSED : {};
        usage.count(countedRequest({ projectId, atMs, keyId, ...TRAFFIC[sent % 5], ...refused }));
      }
    }
  }
  await usage.flush();
}

async function seedRequests(rig: DomainRig, tenant: Tenant): Promise<void> {
  const kinds = [
    {},
    { door: 'graphql', operation: 'Storefront', durationUs: 3_210 },
    { operation: 'createPet', status: 201, durationUs: 5_400 },
    { operation: 'getPet', status: 404, code: 'NOT_FOUND', outcome: 'failed' },
    { door: 'graphql', operation: 'apiKeys,domains,pets,project,rateLimit', units: 0, durationUs: 21_000 },
    { status: 429, code: 'RATE_LIMITED_MINUTE', outcome: 'refused', units: 0, durationUs: 240 },
    {
      door: 'graphql',
      operation: 'Storefront',
      code: 'GRAPHQL_VALIDATION_FAILED',
      status: 400,
      outcome: 'failed',
    },
    { operation: 'createPet', status: 503, code: 'UNAVAILABLE', outcome: 'failed', durationUs: 4_800_000 },
  ] as const;
  const requests = Array.from({ length: 230 }, (_, at) => ({ ...kinds[(at * 5) % kinds.length] }));
  // Ages of two digits: a column must not cut them.
  await logRequests(rig, tenant, requests, Date.now() - 20 * 60_000);
}

async function seedDomains(
  rig: DomainRig,
  tenant: Tenant,
  target: string,
): Promise<LivedInProject['domains']> {
  const owner = ownerOf(rig, tenant);
  const added = async (hostname: string) => (await owner.add(hostname)).id as string;
  const [active, old] = [await added('www.customer.test'), await added('old.customer.test')];
  const pending = await added('customer.test');
  const failed = await added('a-rather-long-name-for-a-shop.with-some-labels.customer.test');
  for (const name of ['www.customer.test', 'old.customer.test']) rig.dns.set(name, 'CNAME', target);
  rig.dns.set('a-rather-long-name-for-a-shop.with-some-labels.customer.test', 'A', '203.0.113.7');
  for (const id of [active, old]) await owner.verify(id);
  for (const id of [active, old]) await owner.become(id, 'ACTIVE');
  await owner.verify(failed);
  await owner.set({
    primary: 'www.customer.test',
    redirects: [{ from: 'old.customer.test', to: 'www.customer.test', status: 301 }],
  });
  return { active, pending, failed };
}
