import { LeftOutCount } from '../../src/request-log/left-out-count.entity.js';
import { BUCKETS, numberOf } from '../../src/usage/buckets.js';
import { UsageCount } from '../../src/usage/usage-count.entity.js';
import {
  type DomainRig,
  ownerOf,
  PLATFORM_HOST,
  publishedTenant,
} from '../../test/support/domains/domain-rig.js';
import { TEST_ACTOR, type Tenant } from '../../test/support/start-app.js';
import { logRequests } from './logged-requests.js';

export interface LivedInProject extends Tenant {
  domains: { active: string; pending: string; failed: string };
}

/** Creates a project with data for every page: pets, keys, traffic, and domains in three states. */
export async function livedInProject(rig: DomainRig): Promise<LivedInProject> {
  const tenant = await publishedTenant(rig, { plan: 'BUSINESS' });
  await seedPets(rig, tenant);
  await seedKeys(rig, tenant);
  await seedTraffic(rig, tenant);
  await seedRequests(rig, tenant);
  return { ...tenant, domains: await seedDomains(rig, tenant) };
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

async function seedKeys(rig: DomainRig, { projectId }: Tenant): Promise<void> {
  const { apiKeys } = rig.app.services;
  const wanted = { projectId, scopes: ['pets:read'] as const, expiresAtMs: Date.now() + 40 * 86_400_000 };
  await apiKeys.create(TEST_ACTOR, { ...wanted, name: 'storefront, production' });
  const { key } = await apiKeys.create(TEST_ACTOR, { ...wanted, name: 'nightly import', expiresAtMs: null });
  await apiKeys.revoke(TEST_ACTOR, key.id);
}

/** Inserts usage rows as real traffic leaves them: an hour and a month of real traffic would take too long. */
async function seedTraffic(rig: DomainRig, { projectId }: Tenant): Promise<void> {
  const now = Date.now();
  const rows = (['minute', 'day'] as const).flatMap((bucket) =>
    Array.from({ length: bucket === 'minute' ? 59 : 29 }, (_, index) => index + 1).flatMap((age) => {
      const number = numberOf(bucket, now - age * BUCKETS[bucket].sizeMs);
      const wave = Math.round((Math.sin(age / 4) + 1.3) * (bucket === 'minute' ? 18 : 900));
      const refused = age % 11 < 3 ? Math.round(wave / 5) : 0;
      const row = { projectId, bucket, number, dimension: 'door' as const, failed: 0, units: 0 };
      return [
        { ...row, name: 'graphql', admitted: wave, refused },
        { ...row, name: 'rest', admitted: Math.round(wave / 2), refused: age % 13 === 0 ? 6 : 0 },
      ];
    }),
  );
  await rig.db.repository(UsageCount).insert(rows);
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
  await logRequests(rig, tenant, requests);
  const minute = Math.floor(Date.now() / 60_000) - 10;
  await rig.db.repository(LeftOutCount).insert({ projectId: tenant.projectId, minute, leftOut: 1_284 });
}

async function seedDomains(rig: DomainRig, tenant: Tenant): Promise<LivedInProject['domains']> {
  const owner = ownerOf(rig, tenant);
  const added = async (hostname: string) => (await owner.add(hostname)).id as string;
  const [active, old] = [await added('www.customer.test'), await added('old.customer.test')];
  const pending = await added('customer.test');
  const failed = await added('a-rather-long-name-for-a-shop.with-some-labels.customer.test');
  for (const name of ['www.customer.test', 'old.customer.test']) rig.dns.set(name, 'CNAME', PLATFORM_HOST);
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
