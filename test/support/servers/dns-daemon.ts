import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { DnsServer } from '../../../src/ground/config/config.js';
import { askRaw } from '../dns/raw-dns-query.js';
import { Daemon, freePort, type Program } from './daemon.js';
import { type DebianPackages, unpackDebianPackages } from './programs/debian-packages.js';
import { firstWorking } from './programs/first-working.js';
import { requireVersion, type VersionedServer } from './programs/oldest-versions.js';
import { executableOnPath, printedBy } from './programs/programs.js';

/** A running name server of the test, on UDP and TCP. */
export interface DnsDaemon extends DnsServer {
  /** The folder of its configuration and data. */
  home: string;
  stop(): Promise<void>;
}

interface DnsDaemonPlan {
  program: Program;
  /** Writes the configuration and returns the program's arguments. The server must answer `id.server` with `identity`. */
  arrange(at: DnsServer & { home: string; identity: string }): Promise<string[]>;
  /** Otherwise a free port of 127.0.0.1. */
  at?: DnsServer;
  /** A server with several processes ends them itself. */
  stopSignal?: 'SIGTERM';
}

const ADDRESS = '127.0.0.1';
const PORTS_TRIED = 3;

/** Starts a name server on a free port. Resolves when it answers. */
export async function runDnsDaemon(plan: DnsDaemonPlan): Promise<DnsDaemon> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(plan, plan.at ?? { address: ADDRESS, port: await freePort() });
    } catch (error) {
      const isPortTaken = /in use|another server answers/i.test((error as Error).message);
      if (!isPortTaken || plan.at || attempt === PORTS_TRIED) throw error;
    }
  }
}

async function startOnce(
  { program, arrange, stopSignal = undefined }: DnsDaemonPlan,
  server: DnsServer,
): Promise<DnsDaemon> {
  const home = await mkdtemp(join(tmpdir(), 'petstore-dns-'));
  const identity = basename(home);
  const args = await arrange({ ...server, home, identity });
  const daemon = new Daemon({ program, args, home, logFile: join(home, 'log') });
  const stop = async () => {
    await daemon.kill(stopSignal ?? 'SIGKILL');
    await rm(home, { recursive: true, force: true });
  };
  try {
    await daemon.waitUntil(() => answer(server, identity), 20_000);
  } catch (error) {
    await stop();
    throw error;
  }
  return { ...server, home, stop };
}

// The identity distinguishes this server from another test's that took the port first.
async function answer(server: DnsServer, identity: string): Promise<void> {
  const { answers } = await askRaw(server, { name: 'id.server', type: 'TXT', class: 'CH' }, 500);
  const said = answers.map((record) => ('data' in record ? String(record.data) : '')).join();
  if (said !== identity) throw new Error(`another server answers at ${server.address}:${server.port}`);
}

interface DnsPrograms {
  server: VersionedServer;
  from: DebianPackages;
  /** Paths below `usr/sbin`, or below the root; the server is first. */
  binaries: string[];
  /** The argument that prints the server's version. */
  versionArgument: string;
}

/**
 * Returns the programs of one package, in the order of `binaries`. An installed server comes last: on Ubuntu AppArmor
 * keeps it from reading a configuration in a temporary folder.
 */
export function dnsPrograms({ server, from, binaries, versionArgument }: DnsPrograms): Promise<Program[]> {
  const suitable = async (programs: Program[]): Promise<Program[]> => {
    const [first] = programs as [Program];
    requireVersion(server, first, await printedBy(first, versionArgument));
    return programs;
  };
  return firstWorking(server, [
    {
      name: 'packages of Debian or Ubuntu',
      advice: 'run on Debian or Ubuntu with a mirror that apt reaches',
      find: async () => {
        const root = await unpackDebianPackages(from);
        const path = (binary: string) => (binary.includes('/') ? binary : `usr/sbin/${binary}`);
        return suitable(binaries.map((binary) => root.program(path(binary))));
      },
    },
    {
      name: `installed ${binaries[0]}`,
      advice: `install ${from.packages.join()}`,
      find: () =>
        suitable(binaries.map((binary) => ({ file: executableOnPath(basename(binary)), args: [] }))),
    },
  ]);
}
