import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Services } from '../../src/app/services.js';
import { OrderLog } from '../../src/domains/certificates/orders/order-log.js';
import { IdGenerator } from '../../src/ground/kernel/ids.js';
import type { RecordFile } from '../../src/tenants/files/record-file.js';
import type { ReadRow } from '../../src/tenants/files/rows.js';
import { Project } from '../../src/tenants/projects/project.entity.js';
import { publishedTenant } from '../support/domains/domain-rig.js';
import { createServices } from '../support/gateway/tested-gateway.js';
import { graphql, rest } from '../support/http/client.js';
import { onEachDatabase } from '../support/on-databases.js';
import { TEST_ACTOR } from '../support/start-app.js';

const CERTIFICATE = {
  domainId: 1n,
  hostname: 'shop.example.com',
  chainPem: '',
  sealedKey: '',
  issuer: 'test',
  serialNumber: '00',
  notBeforeMs: 0,
  notAfterMs: 1,
  renewAtMs: 1,
  renewalId: null,
  createdAtMs: 0,
};
const LIMITS = { ordersIn3Hours: 300, certificatesInAWeek: 50 };
const ORDER = {
  domainId: 1n,
  hostname: 'a.test',
  registrableDomain: 'a.test',
  projectId: 1n,
  isRenewal: false,
  isCertified: false,
  sealedKey: null,
};

onEachDatabase((app) => {
  /** Without the request log, whose ids have the times of requests: RequestWriter-7. */
  const idTables = () =>
    manager().dataSource.entityMetadatas.filter(
      ({ name, primaryColumns }) =>
        name !== 'LoggedRequest' && primaryColumns.some(({ databaseName }) => databaseName === 'id'),
    );
  const manager = () => app().db.repository(Project).manager;

  /** An act for each way to create a row with a drawn id. Each act throws when it is refused. */
  function acts(
    { token, projectId, keyId }: { token: string; projectId: bigint; keyId: bigint },
    mark: string,
  ) {
    const { services, customDomains } = app().app;
    const asked = async (query: string, headers: Record<string, string> = {}) => {
      const { body } = await graphql(app().url, query, { token, headers });
      expect([query, body.errors]).toEqual([query, undefined]);
      return Object.values<{ id: string; key?: { id: string } }>(body.data)[0];
    };
    const withKey = (name: string) => ({ 'idempotency-key': `${mark}-${name}` });
    const post = async (headers: Record<string, string>) => {
      const body = { name: 'Rex', categoryId: 1 };
      const { status } = await rest(app().url, '/v1/toys', { method: 'POST', token, body, headers });
      expect(status).toBe(201);
    };
    const makeKey = async (headers = {}) => {
      const query = 'mutation { createApiKey(input: {name: "k", scopes: [TOYS_READ]}) { key { id } token } }';
      return (await asked(query, headers))?.key?.id;
    };
    const roll = async (headers: Record<string, string>) =>
      asked(`mutation { rollApiKey(id: "${await makeKey()}") { key { id } token } }`, headers);
    return {
      project: () =>
        services.projects.create(TEST_ACTOR, {
          slug: `ids-${mark}`,
          name: null,
          plan: 'PRO',
          perMinute: null,
          perDay: null,
        }),
      toy: () => post({}),
      'toy, with a key': () => post(withKey('toy')),
      'toy, over GraphQL': () => asked('mutation { createToy(input: {name: "A", categoryId: 1}) { id } }'),
      import: () => importToys(services, projectId),
      'API key': () => makeKey(),
      'API key, with a key': () => makeKey(withKey('key')),
      'rolled key': () => roll({}),
      'rolled key, with a key': () => roll(withKey('roll')),
      'revoked key': async () => asked(`mutation { revokeApiKey(id: "${await makeKey()}") { id } }`),
      ban: () => services.apiKeys.recordBan(TEST_ACTOR, { keyId, projectId }, 1),
      deploy: () => asked('mutation { publishProject { slug } }', withKey('publish')),
      domain: () => asked(`mutation { addDomain(hostname: "${mark}.customer.test") { id } }`),
      'domain, with a key': () =>
        asked(`mutation { addDomain(hostname: "${mark}2.customer.test") { id } }`, withKey('domain')),
      certificate: () =>
        app().db.transaction(async (transaction) =>
          (await customDomains.load()).certificates.insert(transaction, CERTIFICATE),
        ),
      order: () => new OrderLog(app().db, services.ids, LIMITS, () => app().clock.now).logOrder(ORDER),
    };
  }

  test('Ids-1: an act succeeds although the id that it draws is taken, in every table with drawn ids', async () => {
    const tenant = await publishedTenant(app());
    const { ids } = app().app.services;
    for (const act of Object.values(acts(tenant, 'before'))) await act();
    // The same id is taken in all tables.
    const taken = ids.next();
    for (const { target, name } of idTables()) {
      const where: object = name === 'Toy' ? { projectId: tenant.projectId } : {};
      const [row] = await manager().find<{ id: bigint }>(target, { where, order: { id: 'DESC' }, take: 1 });
      await manager().update(target, { id: row?.id }, { id: taken });
    }
    const draws = drawsFirst(ids, taken);
    try {
      for (const [name, act] of Object.entries(acts(tenant, 'after'))) {
        const before = draws.again;
        await expect(act().then(() => name)).resolves.toBe(name);
        expect([name, draws.again > before]).toEqual([name, true]);
      }
    } finally {
      draws.restore();
    }
  });

  test('Ids-2: the acts of Ids-1 add a row to every table that has its own ids', async () => {
    const tenant = await publishedTenant(app());
    const before = await counts();
    for (const act of Object.values(acts(tenant, 'all'))) await act();
    const after = await counts();
    const idle = Object.keys(before).filter((table) => after[table] === before[table]);
    expect(idle).toEqual([]);
  });

  test('Ids-3: two processes with equal clocks and equal draws create projects and keys at the same time', async () => {
    const twins = [0, 1].map(() => {
      const services = createServices(app().db, () => app().clock.now);
      const same = new IdGenerator(
        () => app().clock.now,
        (below) => below >> 1,
      );
      services.ids.next = () => same.next();
      services.ids.nextFurther = () => same.nextFurther();
      return services;
    });
    const made = twins.flatMap(({ projects, apiKeys }, twin) =>
      Array.from({ length: 20 }, async (_, at) => {
        const slug = `twin-${twin}-${at}`;
        const wanted = { slug, name: null, plan: 'PRO' as const, perMinute: null, perDay: null };
        const { id: projectId } = await projects.create(TEST_ACTOR, wanted);
        const key = { projectId, name: 'k', scopes: ['keys'] as const, expiresAtMs: null };
        const issued = await apiKeys.create(TEST_ACTOR, key);
        const { key: successor } = await apiKeys.roll(TEST_ACTOR, issued.key.id, 0);
        await apiKeys.revoke(TEST_ACTOR, successor.id);
        return projectId;
      }),
    );
    expect(new Set(await Promise.all(made)).size).toBe(40);
  });

  test('Ids-4: a taken name is distinguished from a taken id', async () => {
    const { services } = app().app;
    const wanted = { slug: 'only-once', name: null, plan: 'PRO' as const, perMinute: null, perDay: null };
    const { id } = await services.projects.create(TEST_ACTOR, wanted);
    const draws = drawsFirst(services.ids, id);
    try {
      await expect(services.projects.create(TEST_ACTOR, wanted)).rejects.toMatchObject({ code: 'conflict' });
    } finally {
      draws.restore();
    }
    expect(draws.again).toBeLessThanOrEqual(1);
  });

  async function counts(): Promise<Record<string, number>> {
    const rows = idTables().map(
      async ({ target, name }) => [name, await manager().count(target)] as [string, number],
    );
    return Object.fromEntries(await Promise.all(rows));
  }
});

test('Ids-5: ids are drawn only where a draw is repeated on a conflict', async () => {
  const files = (await readdir('src', { recursive: true })).filter((file) => file.endsWith('.ts'));
  const sources = await Promise.all(files.map((file) => readFile(join('src', file), 'utf8')));
  const drawing = files.filter((_, index) => /\bids\.next\(/.test(sources[index] ?? ''));
  expect(drawing).toEqual(['ground/database/drawn-id.ts']);
});

/** Makes each insert draw the taken id first; `again` counts the inserts that drew again. */
function drawsFirst(ids: IdGenerator, taken: bigint): { again: number; restore(): void } {
  const generator = new IdGenerator(Date.now);
  const restore = () => {
    ids.next = IdGenerator.prototype.next;
    ids.nextFurther = IdGenerator.prototype.nextFurther;
  };
  const draws = { again: 0, restore };
  let isFurther = false;
  ids.next = () => (isFurther ? generator.next() : taken);
  ids.nextFurther = () => {
    // The remaining ids of a batch are drawn in the same turn of the event loop.
    draws.again += 1;
    isFurther = true;
    queueMicrotask(() => {
      isFurther = false;
    });
    return generator.nextFurther();
  };
  return draws;
}

/** Imports three toys from a stream. */
async function importToys(services: Services, projectId: bigint): Promise<void> {
  const { imports } = services.filesOf('toys');
  const rows = ['A', 'B', 'C'].map((name, line) => ({
    input: { name, categoryId: 1 },
    problem: null,
    withProblem: () => '',
    end: { line: line + 1, positionBytes: line + 1 },
    line: line + 1,
  }));
  const file: RecordFile = {
    name: 'stream',
    format: 'ndjson',
    refusedHeader: '',
    refusedStart: '',
    identity: null,
    sizeBytes: null,
    rows: async function* () {
      yield rows as ReadRow[];
    },
    stop: () => {},
  };
  const onWait = () => {};
  const names = { path: '-', slug: '' };
  const start = { mode: 'new' as const, names, reportPath: '', mayBegin: () => {}, onWait };
  const progress = await imports.begin(projectId, file, start);
  const { signal } = new AbortController();
  await imports.run(TEST_ACTOR, { file, progress, signal, onWait, report: () => 0, onProgress: () => {} });
}
