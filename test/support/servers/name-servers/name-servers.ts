import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DnsServer } from '../../../../src/ground/config/config.js';
import type { Program } from '../daemon.js';
import { type DnsDaemon, dnsPrograms, runDnsDaemon } from '../dns-daemon.js';
import { pathOf, printedBy } from '../programs/programs.js';

/** A zone as its server loads it. */
export interface ServedZone {
  /** Without a trailing dot. */
  name: string;
  /** The whole zone file. */
  text: string;
  /** PowerDNS signs each answer itself. */
  isSignedLive?: boolean;
}

interface Serving {
  at: DnsServer;
  zones: readonly ServedZone[];
}

/** One download for all of them: each reads the lists of the archive anew. */
const PACKAGES = {
  name: 'name-server-packages',
  suite: 'own',
  packages: ['bind9', 'nsd', 'pdns-server', 'pdns-backend-bind'],
};

const TRIPLET = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';

/** The programs of BIND: the server, and those that make keys and sign zones. */
export async function bindPrograms() {
  const [named, keygen, signzone] = (await dnsPrograms({
    server: 'BIND',
    from: PACKAGES,
    binaries: ['named', 'usr/bin/dnssec-keygen', 'usr/bin/dnssec-signzone'],
    versionArgument: '-v',
  })) as [Program, Program, Program];
  return { named, keygen, signzone };
}

export async function startBind({ at, zones }: Serving): Promise<DnsDaemon> {
  const { named } = await bindPrograms();
  return runDnsDaemon({
    program: named,
    at,
    arrange: async ({ home, address, port, identity }) => {
      await writeZones(home, zones);
      const options = [
        `directory "${home}"; pid-file none; session-keyfile none; server-id "${identity}"`,
        `listen-on port ${port} { ${address}; }; listen-on-v6 { none; }`,
        'recursion no; dnssec-validation no; notify no; allow-transfer { none; }',
      ];
      await writeFile(
        join(home, 'named.conf'),
        `options { ${options.join('; ')}; };\ncontrols { };\n${primaries(zones)}`,
      );
      return ['-g', '-n', '1', '-c', join(home, 'named.conf')];
    },
  });
}

export async function startNsd({ at, zones }: Serving): Promise<DnsDaemon> {
  const [nsd] = (await dnsPrograms({
    server: 'NSD',
    from: PACKAGES,
    binaries: ['nsd'],
    versionArgument: '-v',
  })) as [Program];
  return runDnsDaemon({
    program: nsd,
    at,
    stopSignal: 'SIGTERM',
    arrange: async ({ home, address, port, identity }) => {
      await writeZones(home, zones);
      const entries = zones.map(({ name }) => `zone:\n  name: "${name}"\n  zonefile: "${name}.zone"`);
      const files = `  zonesdir: "${home}"\n  xfrdir: "${home}"\n  xfrdfile: "${home}/xfrd.state"\n  zonelistfile: "${home}/zone.list"`;
      const server = `  ip-address: ${address}@${port}\n  identity: "${identity}"\n  username: ""\n  chroot: ""\n  database: ""\n  pidfile: ""\n  server-count: 1`;
      await writeFile(
        join(home, 'nsd.conf'),
        `server:\n${server}\n${files}\nremote-control:\n  control-enable: no\n${entries.join('\n')}\n`,
      );
      return ['-d', '-c', join(home, 'nsd.conf')];
    },
  });
}

/** Starts PowerDNS, which asks `resolver` for the addresses of each ALIAS. */
export async function startPowerDns({
  at,
  zones,
  resolver,
}: Serving & { resolver: DnsServer }): Promise<DnsDaemon> {
  const [pdnsutil, server] = await powerDnsPrograms();
  return runDnsDaemon({
    program: server,
    at,
    arrange: async ({ home, address, port, identity }) => {
      await writePowerDns(home, zones, [
        `local-address=${address}`,
        `local-port=${port}`,
        `server-id=${identity}`,
        `resolver=${resolver.address}:${resolver.port}`,
      ]);
      const signed = zones.filter(({ isSignedLive }) => isSignedLive);
      await printedBy(pdnsutil, '--config-dir', home, 'create-bind-db', join(home, 'keys.db'));
      for (const { name } of signed) await printedBy(pdnsutil, '--config-dir', home, 'secure-zone', name);
      return [`--config-dir=${home}`];
    },
  });
}

/** The DS records of a zone that the running PowerDNS signs, in presentation form. */
export async function delegationSignersOf({ home }: DnsDaemon, zone: string): Promise<string[]> {
  const [pdnsutil] = await powerDnsPrograms();
  const printed = await printedBy(pdnsutil, '--config-dir', home, 'export-zone-ds', zone);
  return printed.split('\n').flatMap((line) => /^\S+ IN DS (\d+ \d+ 2 \S+)/.exec(line)?.[1] ?? []);
}

function powerDnsPrograms(): Promise<[Program, Program]> {
  return dnsPrograms({
    server: 'PowerDNS',
    from: PACKAGES,
    // The server itself fails after it has printed its version.
    binaries: ['usr/bin/pdnsutil', 'pdns_server'],
    versionArgument: '--version',
  }) as Promise<[Program, Program]>;
}

async function writePowerDns(home: string, zones: readonly ServedZone[], own: string[]): Promise<void> {
  await writeZones(home, zones);
  await writeFile(join(home, 'zones.conf'), `options { directory "${home}"; };\n${primaries(zones)}`);
  const [, server] = await powerDnsPrograms();
  const settings = [
    'launch=bind',
    `bind-config=${home}/zones.conf`,
    `bind-dnssec-db=${home}/keys.db`,
    // In the unpacked tree the loader is another program than the server.
    `module-dir=${join(dirname(dirname(pathOf(server))), `lib/${TRIPLET}/pdns`)}`,
    `socket-dir=${home}`,
    'expand-alias=yes',
    'dname-processing=yes',
    // Otherwise it asks powerdns.com whether its version is safe.
    'security-poll-suffix=',
    'write-pid=no',
    'guardian=no',
    'daemon=no',
    ...own,
  ];
  await writeFile(join(home, 'pdns.conf'), `${settings.join('\n')}\n`);
}

const primaries = (zones: readonly ServedZone[]) =>
  zones.map(({ name }) => `zone "${name}" { type master; file "${name}.zone"; };\n`).join('');

async function writeZones(home: string, zones: readonly ServedZone[]): Promise<void> {
  await mkdir(home, { recursive: true });
  for (const { name, text } of zones) await writeFile(join(home, `${name}.zone`), text);
}
