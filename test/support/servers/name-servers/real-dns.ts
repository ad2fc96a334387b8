import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Inspection, inspect } from '../../../../src/domains/diagnosis/diagnose.js';
import type { Subject } from '../../../../src/domains/diagnosis/observation.js';
import { NameServers } from '../../../../src/domains/dns/name-servers.js';
import { Resolver } from '../../../../src/domains/dns/resolver.js';
import { freePort } from '../daemon.js';
import type { DnsDaemon } from '../dns-daemon.js';
import { startKnot } from '../knot.js';
import { startUnbound } from '../unbound.js';
import { delegationSignersOf, type ServedZone, startBind, startNsd, startPowerDns } from './name-servers.js';
import { signZone } from './signed-zones.js';

export type Software = 'BIND' | 'Knot' | 'NSD' | 'PowerDNS';

/** A zone of a customer below `test`. */
export interface OwnerZone {
  name: string;
  server: Software;
  /** Lines after SOA and NS, with names relative to the zone. */
  records: string[];
  /**
   * `expired`: the signatures ended a month ago. `left`: the zone is not signed any more, but its DS record is still at the
   * registrar. `other key`: the DS record is of another key. `live`: PowerDNS signs.
   */
  dnssec?: 'valid' | 'expired' | 'left' | 'other key' | 'live';
  /** The server does not have the zone. */
  isLame?: boolean;
}

export interface RealDns {
  inspect(hostname: string, subject?: Partial<Subject>): Promise<Inspection>;
  stop(): Promise<void>;
}

export const PLATFORM_HOST = 'edge.plat.test';
// BIND listens only at addresses that an interface has.
const ADDRESSES = { Knot: '127.0.10.1', BIND: '127.0.0.1', NSD: '127.0.10.3', PowerDNS: '127.0.10.4' };
/** The servers of `test` and of the platform. */
const REGISTRY = '127.0.10.5';
const RESOLVER = '127.0.10.9';
const PLATFORM = ['edge A 203.0.113.10', 'edge AAAA 2001:db8::10'];
const MONTH_MS = 31 * 86_400_000;

/** Starts the four name servers, a registry, a validating resolver, and inspections that ask them. The zone `test` is signed. */
export async function startRealDns(zones: readonly OwnerZone[]): Promise<RealDns> {
  const home = await mkdtemp(join(tmpdir(), 'petstore-zones-'));
  const started: DnsDaemon[] = [];
  const kept = async (starting: Promise<DnsDaemon>) => {
    const server = await starting;
    started.push(server);
    return server;
  };
  const stop = async () => {
    await Promise.all(started.splice(0).map((server) => server.stop()));
    await rm(home, { recursive: true, force: true });
  };
  try {
    const port = await freePort();
    const resolverAt = { address: RESOLVER, port };
    const registryAt = { address: REGISTRY, port };
    const made = await Promise.all(zones.map((zone) => madeZone(home, zone)));
    const of = (software: Software) =>
      made.flatMap((one) => (one.zone.server === software && !one.zone.isLame ? [one.served] : []));
    const at = (software: Software) => ({ address: ADDRESSES[software], port });
    const powerDns = await kept(
      startPowerDns({ at: at('PowerDNS'), zones: of('PowerDNS'), resolver: resolverAt }),
    );
    const delegations = await Promise.all(
      made.map(async ({ zone, signer }) => {
        const live = zone.dnssec === 'live' ? await delegationSignersOf(powerDns, zone.name) : [];
        const label = zone.name.slice(0, -'.test'.length);
        const ns = [`${label} NS ns1.${label}`, `ns1.${label} A ${ADDRESSES[zone.server]}`];
        return [...ns, ...[...(signer ?? []), ...live].map((signers) => `${label} DS ${signers}`)];
      }),
    );
    const parent = await signZone(home, {
      name: 'test',
      text: zoneText('test', REGISTRY, ['plat NS ns1.plat', `ns1.plat A ${REGISTRY}`, ...delegations.flat()]),
      endsAt: new Date(Date.now() + MONTH_MS),
    });
    const own = [
      { name: 'test', text: parent.text },
      { name: 'plat.test', text: zoneText('plat.test', REGISTRY, PLATFORM) },
    ];
    const stubs = made.map(({ zone }) => ({ name: zone.name, server: at(zone.server) }));
    const resolver = await kept(
      startUnbound({
        at: resolverAt,
        zones: [...own.map(({ name }) => ({ name, server: registryAt })), ...stubs],
        trustAnchors: [`test. DS ${parent.delegationSigner}`],
      }),
    );
    await Promise.all([
      kept(startKnot(own, registryAt)),
      kept(startKnot(of('Knot'), at('Knot'))),
      kept(startBind({ at: at('BIND'), zones: of('BIND') })),
      kept(startNsd({ at: at('NSD'), zones: of('NSD') })),
    ]);
    const asked = new Resolver([resolver], Date.now);
    const settings = { nameServerPort: port, privateNameServers: true };
    return {
      inspect: (hostname, subject = {}) => {
        // New for each inspection: many of them in a second would reach the bound of questions to a server.
        const nameServers = new NameServers(asked, settings, Date.now);
        const parts = { resolver: asked, nameServers, platformHost: PLATFORM_HOST, now: Date.now };
        return inspect(parts, { projectId: 1n, hostname, isApex: false, ownership: null, ...subject });
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function madeZone(
  home: string,
  zone: OwnerZone,
): Promise<{ zone: OwnerZone; served: ServedZone; signer: string[] | null }> {
  const { name, server, records, dnssec } = zone;
  const text = zoneText(name, ADDRESSES[server], records);
  if (dnssec === undefined) return { zone, served: { name, text }, signer: null };
  if (dnssec === 'live') return { zone, served: { name, text, isSignedLive: true }, signer: null };
  const endsAt = new Date(Date.now() + (dnssec === 'expired' ? -MONTH_MS : MONTH_MS));
  const signed = await signZone(home, { name, text, endsAt });
  const { delegationSigner } = signed;
  const signer = dnssec === 'other key' ? `4711 13 2 ${'0'.repeat(64)}` : delegationSigner;
  return { zone, served: { name, text: dnssec === 'left' ? text : signed.text }, signer: [signer] };
}

const zoneText = (name: string, address: string, records: readonly string[]) => `$ORIGIN ${name}.
$TTL 60
@ SOA ns1 admin 1 600 600 86400 60
@ NS ns1
ns1 A ${address}
${records.join('\n')}
`;
