import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../../src/ground/kernel/package.js';
import { Daemon, freePort, type Program } from './daemon.js';
import { type OwnServer, runOwnServer } from './own-server.js';
import { unpackDebianPackages } from './programs/debian-packages.js';
import { firstWorking, type Place } from './programs/first-working.js';
import { requireVersion } from './programs/oldest-versions.js';
import { executableOnPath, printedBy } from './programs/programs.js';

export interface Proxy extends OwnServer {
  /** `http://127.0.0.1:<port>` */
  url: string;
  /** Where it passes TLS through. */
  httpsPort: number;
}

const CONFIGURATION = join(packageRoot(), 'deploy/haproxy.cfg');

const PLACES: Place<Program>[] = [
  {
    name: 'installed haproxy',
    advice: 'install HAProxy 2.6 or later',
    find: () => suitable({ file: executableOnPath('haproxy'), args: [] }),
  },
  {
    name: 'packages of Debian or Ubuntu',
    advice: 'run on Debian or Ubuntu with a mirror that apt reaches',
    find: async () => {
      const packages = { name: 'haproxy-packages', suite: 'own', packages: ['haproxy'] };
      return suitable((await unpackDebianPackages(packages)).program('usr/sbin/haproxy'));
    },
  },
];

/** Checks the deployed file with HAProxy itself, in this environment. Rejects with HAProxy's words. */
export async function checkProxyConfiguration(env: Record<string, string>): Promise<void> {
  const { file, args } = await firstWorking('HAProxy', PLACES);
  await promisify(execFile)(file, [...args, '-c', '-f', CONFIGURATION], { env });
}

/** Where the gateways are: ports of 127.0.0.1, with those of HTTPS, or the port of a name whose addresses the DNS server knows. */
type Gateways =
  | readonly number[]
  | readonly { http: number; https: number }[]
  | { name: string; port: number; dnsServer: string };

/** Starts HAProxy with `deploy/haproxy.cfg` in front of gateways, whether they run or not. */
export async function startProxy(gateways: Gateways): Promise<Proxy> {
  const program = await firstWorking('HAProxy', PLACES);
  const home = await mkdtemp(join(tmpdir(), 'petstore-haproxy-'));
  const httpsPort = await freePort();
  const server = await runOwnServer({
    home,
    daemon: (port) => {
      const file = join(home, 'haproxy.cfg');
      writeFileSync(file, configuration({ port, httpsPort, gateways }));
      return new Daemon({ program, args: ['-db', '-f', file], home, logFile: join(home, 'log') });
    },
    probe: async (port) => void (await fetch(`http://127.0.0.1:${port}/healthz`)),
    restartSignal: 'SIGTERM',
  });
  return { ...server, url: `http://127.0.0.1:${server.port}`, httpsPort };
}

interface Places {
  port: number;
  httpsPort: number;
  gateways: Gateways;
}

/** The deployed file with the addresses of a test. For ports, a server stands in the place of each template. */
function configuration({ port, httpsPort, gateways }: Places): string {
  const text = readFileSync(CONFIGURATION, 'utf8')
    .replace(/"\$\{PROXY_HTTP\}"/, `127.0.0.1:${port}`)
    .replace(/"\$\{PROXY_HTTPS\}"/, `127.0.0.1:${httpsPort}`);
  if ('name' in gateways) {
    return text
      .replace('parse-resolv-conf', `nameserver test ${gateways.dnsServer}`)
      .replaceAll(/"\$\{GATEWAY_HTTPS?\}"/g, `${gateways.name}:${gateways.port}`)
      .replace(' port 4000', ` port ${gateways.port}`);
  }
  const ports = gateways.map((each) => (typeof each === 'number' ? { http: each, https: each } : each));
  return text.replaceAll(
    /^ +server-template gateway 10 "\$\{GATEWAY_(HTTPS?)\}"(.*)$/gm,
    (_, door, settings) =>
      ports
        .map(({ http, https }) => {
          const port = door === 'HTTP' ? http : https;
          return `    server port-${port} 127.0.0.1:${port}${settings.replace(' port 4000', ` port ${http}`)}`;
        })
        .join('\n'),
  );
}

async function suitable(program: Program): Promise<Program> {
  requireVersion('HAProxy', program, await printedBy(program, '-v'));
  return program;
}
