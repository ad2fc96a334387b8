import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DnsServer } from '../../../src/ground/config/config.js';
import type { Program } from './daemon.js';
import { type DnsDaemon, dnsPrograms, runDnsDaemon } from './dns-daemon.js';

interface UnboundOptions {
  /** The server of each zone. Any other name is resolved from the root servers. */
  zones: { name: string; server: DnsServer }[];
  /** DS records in presentation form; a zone without a DS record counts as unsigned. */
  trustAnchors: string[];
  /** Otherwise a free port of 127.0.0.1. */
  at?: DnsServer;
}

/** Starts a recursive resolver that validates DNSSEC and reports extended errors. Resolves when it answers. */
export async function startUnbound({ zones, trustAnchors, ...where }: UnboundOptions): Promise<DnsDaemon> {
  const [unbound] = await dnsPrograms({
    server: 'Unbound',
    from: { name: 'unbound-packages', suite: 'own', packages: ['unbound'] },
    binaries: ['unbound'],
    versionArgument: '-V',
  });
  return runDnsDaemon({
    program: unbound as Program,
    ...where,
    arrange: async ({ home, address, port, identity }) => {
      const file = join(home, 'unbound.conf');
      const stubs = zones.map(
        ({ name, server }) =>
          `stub-zone:\n  name: "${name}"\n  stub-addr: ${server.address}@${server.port}\n  stub-no-cache: yes`,
      );
      const anchors = trustAnchors.map((anchor) => `  trust-anchor: "${anchor}"`);
      const listen = `  interface: ${address}\n  port: ${port}\n  identity: "${identity}"`;
      await writeFile(
        file,
        `server:\n${listen}\n${settings(home)}${anchors.join('\n')}\n${stubs.join('\n')}\n`,
      );
      return ['-d', '-c', file];
    },
  });
}

// Unbound answers `test` itself unless configured. Without user and chroot it runs as the user of the tests.
const settings = (home: string) => `  directory: "${home}"
  chroot: ""
  username: ""
  pidfile: ""
  logfile: ""
  use-syslog: no
  verbosity: 1
  num-threads: 1
  do-ip6: no
  do-not-query-localhost: no
  access-control: 127.0.0.0/8 allow
  local-zone: "test." nodefault
  module-config: "validator iterator"
  ede: yes
  val-log-level: 2
  trust-anchor-signaling: no
  cache-max-ttl: 2
  cache-max-negative-ttl: 1
`;
