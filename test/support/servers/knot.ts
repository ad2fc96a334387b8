import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DnsServer } from '../../../src/ground/config/config.js';
import { askRaw } from '../dns/raw-dns-query.js';
import { eventually } from '../eventually.js';
import type { Program } from './daemon.js';
import { type DnsDaemon, dnsPrograms, runDnsDaemon } from './dns-daemon.js';

const execute = promisify(execFile);

export interface TestZone {
  /** Without a trailing dot. */
  name: string;
  /** Lines of a zone file after SOA and NS; names are relative to the zone: `www CNAME shops.platform.test.` */
  records: string[];
  isSigned: boolean;
}

/** A zone as a whole file. */
interface WholeZone {
  name: string;
  text: string;
}

export interface KnotServer extends DnsDaemon {
  /** DS records of a signed zone, in presentation form. */
  delegationSigners(zone: string): Promise<string[]>;
}

/**
 * Starts an authoritative server with real zones, signed on request, by default on a free port of 127.0.0.1. Resolves when
 * it answers for all `TestZone`s: a whole zone may be one that Knot refuses.
 */
export async function startKnot(zones: (TestZone | WholeZone)[], at?: DnsServer): Promise<KnotServer> {
  const [knotd, keymgr] = await dnsPrograms({
    server: 'Knot',
    from: { name: 'knot-packages', suite: 'own', packages: ['knot'] },
    binaries: ['knotd', 'keymgr'],
    versionArgument: '--version',
  });
  const daemon = await runDnsDaemon({
    program: knotd as Program,
    ...(at ? { at } : {}),
    arrange: async ({ home, address, port, identity }) => {
      const zoneFolder = join(home, 'zones');
      await mkdir(zoneFolder);
      for (const zone of zones) await writeFile(join(zoneFolder, `${zone.name}.zone`), zoneFile(zone));
      await writeFile(configIn(home), configuration({ home, listen: `${address}@${port}`, identity, zones }));
      return ['--config', configIn(home)];
    },
  });
  // Knot answers SERVFAIL for a zone until it has signed it.
  for (const zone of zones) {
    if ('text' in zone) continue;
    const { name } = zone;
    await eventually(`knot loads ${name}`, async () => {
      return (await askRaw(daemon, { name, type: 'SOA' })).rcode === 'NOERROR';
    });
  }
  return {
    ...daemon,
    delegationSigners: async (zone) => {
      const { file, args } = keymgr as Program;
      const { stdout } = await execute(file, [...args, '--config', configIn(daemon.home), zone, 'ds']);
      return stdout.trim().split('\n');
    },
  };
}

const configIn = (home: string) => join(home, 'knot.conf');

const zoneFile = (zone: TestZone | WholeZone) =>
  'text' in zone
    ? zone.text
    : `$ORIGIN ${zone.name}.
$TTL 60
@ SOA ns1 admin 1 600 600 3600 60
@ NS ns1
ns1 A 127.0.0.1
${zone.records.join('\n')}
`;

interface KnotSettings {
  home: string;
  listen: string;
  identity: string;
  zones: (TestZone | WholeZone)[];
}

// Knot maps its databases into memory, by default with 20 GiB of address space.
const configuration = ({ home, listen, identity, zones }: KnotSettings) => `
server:
    listen: ${listen}
    rundir: ${home}
    identity: ${identity}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
log:
  - target: stderr
    any: info
database:
    storage: ${home}
    journal-db-max-size: 16M
    kasp-db-max-size: 16M
    timer-db-max-size: 16M
policy:
  - id: signed
    algorithm: ecdsap256sha256
    single-type-signing: on
    zone-max-ttl: 60
template:
  - id: default
    storage: ${home}/zones
    zonefile-sync: -1
zone:
${zones.map(zoneEntry).join('\n')}
`;

const zoneEntry = (zone: TestZone | WholeZone) =>
  `  - domain: ${zone.name}${'isSigned' in zone && zone.isSigned ? '\n    dnssec-signing: on\n    dnssec-policy: signed' : ''}`;
