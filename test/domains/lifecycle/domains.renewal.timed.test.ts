import { Agent } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anyDatabase } from '../../support/databases.js';
import { rateLimited } from '../../support/domains/acme-proxy.js';
import {
  type DomainRig,
  letGo,
  ownerOf,
  PLATFORM_HOST,
  publishedTenant,
  startDomainRig,
} from '../../support/domains/domain-rig.js';
import { handshake, visit } from '../../support/domains/served-domain.js';
import { eventually } from '../../support/eventually.js';

const LIFETIME_SECONDS = 12;

interface Found {
  code: string;
  severity: string;
}

describe.each([anyDatabase()])('renewal on %s, of certificates that last seconds', (kind) => {
  let rig: DomainRig;
  beforeAll(async () => {
    const brief = { description: 'seconds', validityPeriod: LIFETIME_SECONDS };
    rig = await startDomainRig(kind, { pebble: { profiles: { brief } }, env: { ACME_PROFILE: 'brief' } });
    letGo(rig.clock);
  });
  afterAll(() => rig?.stop());

  const serialOf = async (hostname: string) => {
    const socket = await handshake(rig, hostname);
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  };

  let attempts = 0;
  // A retry needs another name: the first attempt's domain stays attached.
  const newName = (label: string) => `${label}-${++attempts}.customer.test`;

  async function served(hostname: string) {
    const tenant = await publishedTenant(rig);
    const owner = ownerOf(rig, tenant);
    const { id } = await owner.add(hostname);
    rig.dns.set(hostname, 'CNAME', PLATFORM_HOST);
    await owner.verify(id);
    await owner.become(id, 'ACTIVE');
    return { id, owner, token: tenant.token };
  }

  test('certificates are renewed under load: no request fails, on old connections and on new ones', async () => {
    const hostname = newName('busy');
    const { token, id, owner } = await served(hostname);
    const agent = new Agent({ keepAlive: true, maxSockets: 2 });
    const serials = new Set([await serialOf(hostname)]);
    let requests = 0;
    let isOver = false;
    const client = async (options: { agent?: Agent }) => {
      while (!isOver) {
        const { status } = await visit(rig, hostname, '/v1/toys', { token, ...options });
        expect(status).toBe(200);
        requests += 1;
        await pause(5);
      }
    };
    const clients = [client({ agent }), client({}), client({})];
    const renewals = eventually(
      'two renewals',
      async () => serials.add(await serialOf(hostname)).size >= 3,
      3 * LIFETIME_SECONDS * 1000,
    ).finally(() => {
      isOver = true;
    });
    await Promise.all([...clients, renewals]);
    agent.destroy();
    expect(requests).toBeGreaterThan(100);
    const { timeline } = await owner.read(id);
    expect(timeline[0].name).toBe('certificate.renewed');
  });

  test('an authority that hangs, limits, resets or is away at renewal affects no other domain', async () => {
    const names = ['hangs', 'limits', 'resets', 'well'].map(newName);
    const [hanging = '', limited = '', resetting = '', well = ''] = names;
    const domains = await Promise.all(names.map(served));
    const first = await Promise.all(names.map(serialOf));
    const isFor = (name: string) => (call: { hostname: string | null }) => call.hostname === name;
    const ends = [
      rig.ca.inject(isFor(hanging), { kind: 'hang' }),
      rig.ca.inject(isFor(limited), rateLimited(3_600)),
      rig.ca.inject(isFor(resetting), { kind: 'reset' }),
    ];
    await eventually('the renewal of the other', async () => (await serialOf(well)) !== first[3], 15_000);
    // Domains that could not be renewed keep their certificate, and show a warning before it ends.
    expect(await serialOf(hanging)).toBe(first[0]);
    const warned = await eventually('a warning', async () => {
      const { status, diagnoses } = await (domains[1] as (typeof domains)[number]).owner.read(
        (domains[1] as (typeof domains)[number]).id,
      );
      const codes = diagnoses.map(({ code, severity }: Found) => `${severity} ${code}`);
      return codes.includes('WARNING RENEWAL_AT_RISK') && { status, codes };
    });
    expect(warned).toEqual({
      status: 'ACTIVE',
      codes: ['WARNING CA_RATE_LIMITED', 'WARNING RENEWAL_AT_RISK'],
    });
    for (const end of ends) end();
    await eventually(
      'the renewal after the resets',
      async () => (await serialOf(resetting)) !== first[2],
      15_000,
    );
  });

  test('an authority that was away is used again, and meanwhile everything stays served', async () => {
    const hostname = newName('alone');
    const { token } = await served(hostname);
    const before = await serialOf(hostname);
    await rig.ca.leave();
    try {
      await pause((LIFETIME_SECONDS * 1000) / 2 + 1_000);
      expect((await visit(rig, hostname, '/v1/toys', { token })).status).toBe(200);
      expect(await serialOf(hostname)).toBe(before);
    } finally {
      await rig.ca.comeBack();
    }
    await eventually('a renewal', async () => (await serialOf(hostname)) !== before, 15_000);
  });
});
