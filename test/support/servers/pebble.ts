import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Daemon, freePort, type Program } from './daemon.js';
import { unpackDebianPackages } from './programs/debian-packages.js';
import { firstWorking } from './programs/first-working.js';
import { Unsuitable } from './programs/oldest-versions.js';
import { executableOnPath, pathOf } from './programs/programs.js';
import { createTestTls, type TestTls } from './test-tls.js';

/** Let's Encrypt's test CA, on its own ports. It stores everything in memory. */
export interface Pebble {
  directoryUrl: string;
  /** PEM file with the root of its HTTPS certificate, for `ACME_CA_FILE`. */
  caFile: string;
  /** The certificate of its HTTPS; a proxy in front of it may use the same. */
  tls: TestTls;
  port: number;
  /** The root that certificates chain to: a new one at each start. */
  rootsPem(): Promise<string>;
  /** Accepts connections but answers nothing until `thaw`. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  kill(): Promise<void>;
  /** Keeps the ports, loses roots, accounts and orders. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface PebbleOptions {
  /** `127.0.0.1:5300`: the DNS server for the addresses of hosts. */
  dnsServer: string;
  /** The port at which it validates hosts, instead of 80. */
  httpPort: number;
  /** The share of valid nonces that it refuses. */
  nonceRejectPercent?: number;
  /** The share of orders whose host need not be validated again. */
  authorizationReusePercent?: number;
  /** Default: one of 90 days. For an order without a profile Pebble picks any. */
  profiles?: Record<string, { description: string; validityPeriod: number }>;
  /** Names for which it refuses to issue. */
  blockedDomains?: string[];
  /** Seconds. */
  retryAfter?: { authz: number; order: number };
  /** Further variables, such as PEBBLE_VA_ALWAYS_VALID. */
  environment?: Record<string, string>;
}

const DAYS_90_SECONDS = 90 * 86_400;

/** Finds or downloads a program, starts it, and waits until it answers. */
export function startPebble(options: PebbleOptions): Promise<Pebble> {
  const run = (program: Program) =>
    runPebble(program, options).catch((error) => {
      // Another process took a port between the search and the start.
      if (/address already in use/.test(error.message)) return runPebble(program, options);
      throw error;
    });
  return firstWorking('Pebble', [
    {
      name: 'installed pebble',
      advice: 'install Pebble 2.7 or later as `pebble`',
      find: () => run({ file: executableOnPath('pebble'), args: [] }),
    },
    {
      name: 'packages of Debian',
      advice: 'run where apt reaches a mirror of Debian',
      find: async () => run((await unpackDebianPackages(PACKAGES)).program('usr/bin/pebble')),
    },
  ]);
}

const PACKAGES = { name: 'pebble-packages', suite: 'sid', packages: ['pebble'] };

async function runPebble(program: Program, options: PebbleOptions): Promise<Pebble> {
  const home = await mkdtemp(join(tmpdir(), 'petstore-pebble-'));
  const tls = await createTestTls();
  const [port, managementPort] = [await freePort(), await freePort()];
  const caFile = join(home, 'ca.pem');
  const configFile = join(home, 'pebble.json');
  const directoryUrl = `https://127.0.0.1:${port}/dir`;
  await writeFile(caFile, tls.caPem);
  await writeFile(join(home, 'acme.pem'), tls.certificatePem);
  await writeFile(join(home, 'acme.key'), tls.keyPem);
  await writeFile(configFile, JSON.stringify({ pebble: settings({ options, home, port, managementPort }) }));

  const start = async () => {
    const daemon = new Daemon({
      program: { file: '/usr/bin/env', args: [...environment(options), program.file, ...program.args] },
      args: ['-config', configFile, '-dnsserver', options.dnsServer],
      home,
      logFile: join(home, 'log'),
    });
    try {
      let directory = '';
      await daemon.waitUntil(async () => {
        directory = await fetchText(directoryUrl, tls.caPem);
      }, 20_000);
      requireFeatures(program, directory);
      return daemon;
    } catch (error) {
      await daemon.kill('SIGKILL');
      throw error;
    }
  };

  let daemon = await start().catch(async (error) => {
    await rm(home, { recursive: true, force: true });
    throw error;
  });
  return {
    directoryUrl,
    caFile,
    tls,
    port,
    rootsPem: () => fetchText(`https://127.0.0.1:${managementPort}/roots/0`, tls.caPem),
    freeze: () => daemon.kill('SIGSTOP'),
    thaw: () => daemon.kill('SIGCONT'),
    kill: () => daemon.kill('SIGKILL'),
    restart: async () => {
      await daemon.kill('SIGKILL');
      daemon = await start();
    },
    stop: async () => {
      await daemon.kill('SIGKILL');
      await rm(home, { recursive: true, force: true });
    },
  };
}

/**
 * Throws `Unsuitable` when the directory offers no renewal information (Pebble 2.6 or later) or no profiles (2.7 or
 * later). The directory is checked because Pebble 2.4 has no `-version` and Debian's later packages print `dev`.
 */
export function requireFeatures(program: Program, directoryJson: string): void {
  const directory = JSON.parse(directoryJson);
  const missing = [
    ...(directory.renewalInfo ? [] : ['renewal information']),
    ...(directory.meta?.profiles ? [] : ['profiles']),
  ];
  if (missing.length === 0) return;
  throw new Unsuitable(
    `${pathOf(program)} offers no ${missing.join(' and no ')}; the tests need Pebble 2.7 or later`,
  );
}

function settings(given: { options: PebbleOptions; home: string; port: number; managementPort: number }) {
  const { options, home, port, managementPort } = given;
  return {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate: join(home, 'acme.pem'),
    privateKey: join(home, 'acme.key'),
    httpPort: options.httpPort,
    tlsPort: 1,
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
    domainBlocklist: options.blockedDomains ?? [],
    profiles: options.profiles ?? { default: { description: '90 days', validityPeriod: DAYS_90_SECONDS } },
    ...(options.retryAfter ? { retryAfter: options.retryAfter } : {}),
  };
}

function environment(options: PebbleOptions): string[] {
  const variables: Record<string, string> = {
    // Without this variable it waits up to five seconds before each validation.
    PEBBLE_VA_NOSLEEP: '1',
    PEBBLE_WFE_NONCEREJECT: String(options.nonceRejectPercent ?? 5),
    PEBBLE_AUTHZREUSE: String(options.authorizationReusePercent ?? 0),
    ...options.environment,
  };
  return Object.entries(variables).map(([name, value]) => `${name}=${value}`);
}

function fetchText(url: string, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    // Pebble 2.10 refuses requests without a User-Agent.
    const headers = { 'user-agent': 'petstore-test' };
    const sent = request(url, { ca, agent: false, timeout: 5_000, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    });
    sent.on('timeout', () => sent.destroy(new Error(`no answer from ${url}`)));
    sent.on('error', reject);
    sent.end();
  });
}
