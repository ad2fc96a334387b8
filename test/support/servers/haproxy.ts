import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../../src/kernel/package-root.js';
import { Daemon, freePort, type Program } from './daemon.js';
import { type OwnServer, runOwnServer } from './own-server.js';
import { unpackDebianPackages } from './programs/debian-packages.js';
import { firstWorking, type Place } from './programs/first-working.js';
import { requireVersion } from './programs/oldest-versions.js';
import { executableOnPath, printedBy } from './programs/programs.js';

export interface Proxy extends OwnServer {
  /** `http://127.0.0.1:<port>` */
  url: string;
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

/** Starts HAProxy with `deploy/haproxy.cfg` in front of gateways on these ports of 127.0.0.1, whether they run or not. */
export async function startProxy(gatewayPorts: readonly number[]): Promise<Proxy> {
  const program = await firstWorking('HAProxy', PLACES);
  const home = await mkdtemp(join(tmpdir(), 'petstore-haproxy-'));
  const httpsPort = await freePort();
  const server = await runOwnServer({
    home,
    daemon: (port) => {
      const file = join(home, 'haproxy.cfg');
      writeFileSync(file, configuration({ port, httpsPort, gatewayPorts }));
      return new Daemon({ program, args: ['-db', '-f', file], home, logFile: join(home, 'log') });
    },
    probe: async (port) => void (await fetch(`http://127.0.0.1:${port}/healthz`)),
    restartSignal: 'SIGTERM',
  });
  return { ...server, url: `http://127.0.0.1:${server.port}` };
}

interface Ports {
  port: number;
  httpsPort: number;
  gatewayPorts: readonly number[];
}

const PLACE = {
  http: /"\$\{PROXY_HTTP\}"/,
  https: /"\$\{PROXY_HTTPS\}"/,
  gateway: /"\$\{GATEWAY_A_HTTPS?\}"/,
};

/** The deployed file has two gateways, a and b: its lines about `a` are repeated for each process of the test. */
function configuration({ port, httpsPort, gatewayPorts }: Ports): string {
  const lines = readFileSync(CONFIGURATION, 'utf8').split('\n');
  const written = lines.flatMap((line) => {
    if (/^ +server b /.test(line)) return [];
    if (!/^ +server a /.test(line)) return [line];
    return gatewayPorts.map((gatewayPort) =>
      line
        .replace('server a ', `server port-${gatewayPort} `)
        .replace(PLACE.gateway, `127.0.0.1:${gatewayPort}`)
        .replace(' port 4000', ` port ${gatewayPort}`),
    );
  });
  return written
    .join('\n')
    .replace(PLACE.http, `127.0.0.1:${port}`)
    .replace(PLACE.https, `127.0.0.1:${httpsPort}`);
}

async function suitable(program: Program): Promise<Program> {
  requireVersion('HAProxy', program, await printedBy(program, '-v'));
  return program;
}
