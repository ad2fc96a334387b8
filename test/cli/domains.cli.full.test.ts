import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { petstore } from '../support/command-line.js';
import { anyDatabase } from '../support/databases.js';
import {
  type DomainRig,
  ownerOf,
  PLATFORM_HOST,
  publishedTenant,
  startDomainRig,
} from '../support/domains/domain-rig.js';
import { visit } from '../support/domains/served-domain.js';
import type { Tenant } from '../support/start-app.js';

describe.each([anyDatabase()])('petstore domains, with a running gateway on %s', (kind) => {
  let rig: DomainRig;
  let tenant: Tenant;
  let folder: string;
  beforeAll(async () => {
    rig = await startDomainRig(kind);
    tenant = await publishedTenant(rig);
    folder = await mkdtemp(join(tmpdir(), 'petstore-domains-'));
  });
  afterAll(async () => {
    await rig?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const run = (...args: string[]) => {
    const { database } = rig.config;
    const databaseUrl = database.kind === 'sqlite' ? `sqlite:${database.path}` : database.url;
    return petstore(['domains', ...args], { databaseUrl, env: rig.env });
  };

  async function fileOf(content: unknown): Promise<string> {
    const file = join(folder, 'domains.json');
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  }

  test('CLI-44: add shows the records; verify reports a problem with exit code 1, and none once DNS is right', async () => {
    const added = await run('add', tenant.slug, 'Cli.customer.test', '--json');
    expect(added).toMatchObject({
      code: 0,
      json: {
        hostname: 'cli.customer.test',
        status: 'PENDING_DNS',
        instructions: [{ type: 'CNAME', name: 'cli.customer.test', value: PLATFORM_HOST, ttlSeconds: 3600 }],
      },
    });
    const wrong = await run('verify', tenant.slug, 'cli.customer.test');
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).toMatch(/ERROR DNS_NO_RECORD: .*\n {2}→ .*CNAME/);
    rig.dns.set('cli.customer.test', 'CNAME', PLATFORM_HOST);
    // The gateway's clock stands still; it must pass the real time at which the order is due.
    rig.clock.now = Date.now() + 60_000;
    expect(await run('verify', tenant.slug, 'CLI.customer.test.', '--json')).toMatchObject({
      code: 0,
      // The gateway continues from here, possibly before the command has ended.
      json: { status: expect.stringMatching(/^(VERIFIED|ISSUING|ACTIVE)$/), diagnoses: [], instructions: [] },
    });
    await ownerOf(rig, tenant).become(added.json.id, 'ACTIVE');
    const listed = await run('list', tenant.slug);
    expect(listed.stdout).toMatch(/cli\.customer\.test +ACTIVE +serves +\d{4}-/);
  });

  test('CLI-45: apply takes the shape of SPEC, refuses invalid input by field, and changes nothing in a dry run', async () => {
    await run('add', tenant.slug, 'old.customer.test');
    const domains = {
      primary: 'cli.customer.test',
      redirects: [{ from: 'old.customer.test', to: 'cli.customer.test', status: 308 }],
    };
    const file = await fileOf({ domains });
    const dry = await run('apply', tenant.slug, file, '--dry-run');
    expect(dry).toMatchObject({ code: 0 });
    expect(dry.stdout).toContain('https://old.customer.test/a?b → 308 https://cli.customer.test/a?b');
    expect((await run('list', tenant.slug, '--json')).json.domains[1].redirectTo).toBeNull();
    expect(await run('apply', tenant.slug, file, '--json')).toMatchObject({
      code: 0,
      json: { domains, applied: true },
    });
    expect((await run('list', tenant.slug, '--json')).json.domains[1]).toMatchObject({
      redirectTo: 'cli.customer.test',
      redirectStatus: 308,
    });
    for (const [content, field] of [
      ['{', 'file'],
      [{ primary: 'cli.customer.test' }, 'domains'],
      [{ domains: { redirects: {} } }, 'redirects'],
      [{ domains: { redirects: [{ from: 'old.customer.test', to: 'x.test' }] } }, 'redirects[0].to'],
      [{ domains: { redirects: [{ from: 1, to: 'x.test', status: '301' }] } }, 'redirects[0].from'],
    ] as const) {
      const refused = await run('apply', tenant.slug, await fileOf(content), '--json');
      expect(refused).toMatchObject({ code: 1, json: { error: { code: 'invalid_request' } } });
      expect(refused.json.error.errors[0].field).toBe(field);
    }
    expect(await run('apply', tenant.slug, join(folder, 'none.json'), '--json')).toMatchObject({ code: 1 });
    const many = await fileOf({ domains: { redirects: Array.from({ length: 40_000 }, () => 0) } });
    const tooMany = await run('apply', tenant.slug, many, '--json');
    expect(tooMany.json.error.errors).toEqual([
      { field: 'redirects', message: 'must have at most 100 entries' },
    ]);
    // This file never ends.
    const endless = await run('apply', tenant.slug, '/dev/zero', '--json');
    expect(endless.json.error.errors).toEqual([{ field: 'file', message: 'is larger than 100 KB' }]);
  });

  test('CLI-46: remove returns when the running gateway no longer serves the domain', async () => {
    expect((await visit(rig, 'cli.customer.test', '/v1/toys', { token: tenant.token })).status).toBe(200);
    const removed = await run('remove', tenant.slug, 'cli.customer.test', '--json');
    expect(removed).toMatchObject({ code: 0, json: { hostname: 'cli.customer.test' } });
    await expect(visit(rig, 'cli.customer.test', '/v1/toys')).rejects.toThrow();
    expect(await run('remove', tenant.slug, 'cli.customer.test', '--json')).toMatchObject({
      code: 1,
      json: { error: { code: 'not_found' } },
    });
  });

  test('CLI-47: doctor looks up the platform host, and asks the authority', async () => {
    const { database } = rig.config;
    const databaseUrl = database.kind === 'sqlite' ? `sqlite:${database.path}` : database.url;
    const doctor = () => petstore(['doctor', '--json'], { databaseUrl, env: rig.env });
    const bad = await doctor();
    expect(bad.json.checks).toContainEqual({
      name: 'dns',
      ok: false,
      found: expect.stringContaining('127.0.0.1'),
      remedy: expect.stringContaining(`*.${PLATFORM_HOST}`),
    });
    rig.dns.set(`*.${PLATFORM_HOST}`, 'A', '127.0.0.1');
    expect(await doctor()).toMatchObject({ code: 0, json: { ok: true } });
    rig.dns.remove(`*.${PLATFORM_HOST}`);
    await rig.ca.leave();
    const away = await doctor();
    expect(away.json.checks).toContainEqual(
      expect.objectContaining({ name: 'certificate authority', ok: false }),
    );
    await rig.ca.comeBack();
    rig.dns.fault('drop');
    expect((await doctor()).json.checks).toContainEqual(expect.objectContaining({ name: 'dns', ok: false }));
    rig.dns.heal();
  });
});
