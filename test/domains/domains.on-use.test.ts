import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Domain } from '../../src/domains/store/domain.entity.js';
import { newDomain } from '../../src/domains/store/domain.store.js';
import { MINUTE_MS } from '../../src/ground/kernel/duration.js';
import { eventually } from '../support/eventually.js';
import { startGateway } from '../support/gateway-process.js';
import { startApp } from '../support/start-app.js';

/** The tables, the words of the GraphQL schema, the index that the path of a request reads, and what loads the rest. */
const ALWAYS = [
  'certificates/store/acme-account.entity.js',
  'certificates/store/acme-order.entity.js',
  'certificates/store/certificate.store.js',
  'diagnosis/diagnosis.js',
  'domains-on-use.js',
  'hosts/host-index.js',
  'store/domain-sizes.js',
  'store/domain-status.js',
  'store/domain.entity.js',
  'store/timeline.js',
];

test('Domains-OnUse-1: a process without a domain and without their settings loads only their tables, words and index', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'loaded-'));
  try {
    const env = { DATABASE_URL: 'sqlite::memory:', DEMO: '1', NODE_V8_COVERAGE: folder };
    const gateway = await startGateway({ env });
    await gateway.kill('SIGINT');
    await gateway.ended;
    const files = await Promise.all(
      (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')),
    );
    const urls = files.flatMap((text) => JSON.parse(text).result.map(({ url }: { url: string }) => url));
    const loaded = urls.flatMap((url) => /\/dist\/src\/(.*)$/.exec(url)?.[1] ?? []);
    expect(loaded).toContain('doors/graphql/schema/domains/domain.resolver.js');
    const ofDomains = loaded.filter((file) => file.startsWith('domains/'));
    expect(ofDomains.map((file) => file.slice('domains/'.length)).sort()).toEqual(ALWAYS);
    expect(loaded).not.toContain('request/ingress/tls-server.js');
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('Domains-OnUse-2: such a process checks a domain that another process has added', async () => {
  const app = await startApp();
  try {
    const { projectId } = await app.tenant();
    const name = { hostname: 'shop.example.com', registrableDomain: 'example.com', isApex: false };
    const nowMs = app.clock.now;
    const wanted = { projectId, ...name, ownership: 'ASSUMED', nextCheckAtMs: nowMs } as const;
    const domains = app.db.repository(Domain);
    await domains.insert({ ...newDomain(wanted, nowMs), id: 1n, changeNumber: 1n });
    // A process reserves the check before it asks DNS.
    const reserved = await eventually('the check is reserved', async () => {
      const { nextCheckAtMs } = await domains.findOneByOrFail({ id: 1n });
      return nextCheckAtMs !== nowMs && nextCheckAtMs;
    });
    expect(reserved).toBeGreaterThanOrEqual(nowMs + MINUTE_MS);
  } finally {
    await app.stop();
  }
});
