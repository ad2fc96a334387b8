import { once } from 'node:events';
import { createServer, isIP } from 'node:net';
import { listeningUrl } from '../app/addresses.js';
import { AcmeClient } from '../domains/certificates/acme/acme-client.js';
import { DnsUnreachable, isDecisive, serverName, valuesOf } from '../domains/dns/dns-message.js';
import { Resolver } from '../domains/dns/resolver.js';
import type { Config } from '../ground/config/config.js';
import { type CheckResult, ok, problem } from './doctor-checks.js';

const HEALTH_TIMEOUT_MS = 2_000;
const EVERY = ['0.0.0.0', '::'];

interface Listener {
  name: 'PORT' | 'HTTPS_PORT' | 'METRICS_PORT';
  host: string;
  port: number;
}

/** Whether the ports are free, or a gateway uses them already. */
export async function checkPorts(config: Config): Promise<CheckResult> {
  const { host, port, httpsPort, metricsHost, metricsPort } = config;
  const listeners: Listener[] = [
    { name: 'PORT', host, port },
    { name: 'HTTPS_PORT', host, port: httpsPort },
    { name: 'METRICS_PORT', host: metricsHost, port: metricsPort },
  ];
  // Port 0 = any free port, or off.
  const wanted = listeners.filter(({ port }) => port !== 0);
  const twice = wanted.find((one, at) => wanted.slice(0, at).some((other) => haveSamePort(one, other)));
  if (twice) return problem(`${twice.name} is the port ${twice.port} of another setting`, 'Change one.');

  const isGatewayThere = await isGateway(config);
  for (const { name, host, port } of wanted) {
    const error = await bindError(port, host);
    if (error === null || (error.code === 'EADDRINUSE' && isGatewayThere)) continue;
    const [found, remedy] = bindProblem(error, name);
    return problem(`${name} ${port} on ${host} ${found}`, remedy);
  }
  if (isGatewayThere) return ok(`a gateway answers on ${host}:${port}`);
  return ok(
    wanted.map(({ name, host, port }) => `${name} ${port} on ${host} is free`).join(', ') || 'any free one',
  );
}

/** Different addresses can share a port, unless one is every address, or a name that may resolve to the other. */
function haveSamePort(one: Listener, other: Listener): boolean {
  if (one.port !== other.port) return false;
  const hosts = [one.host, other.host];
  return one.host === other.host || hosts.some((host) => EVERY.includes(host) || isIP(host) === 0);
}

/** Null = the port can be bound. */
async function bindError(port: number, host: string): Promise<NodeJS.ErrnoException | null> {
  const server = createServer();
  try {
    await once(server.listen(port, host), 'listening');
    return null;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  } finally {
    server.close();
  }
}

function bindProblem(
  { code, message }: NodeJS.ErrnoException,
  name: Listener['name'],
): [found: string, remedy: string] {
  switch (code) {
    case 'EADDRINUSE':
      return ['is in use', `Stop the program that listens there, or set ${name} to another port.`];
    case 'EACCES':
      return ['is not allowed for this user', `Set ${name} to a port above 1023.`];
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND': {
      const setting = name === 'METRICS_PORT' ? 'METRICS_HOST' : 'HOST';
      return ["can't be bound: this machine has no such address", `Correct ${setting}.`];
    }
    default:
      return [`can't be bound: ${message}`, `Set ${name} to another port.`];
  }
}

async function isGateway(config: Config): Promise<boolean> {
  if (config.port === 0) return false;
  try {
    const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS);
    const answer = await fetch(`${listeningUrl(config)}/healthz`, { signal, redirect: 'manual' });
    return answer.ok && answer.headers.has('x-request-id');
  } catch {
    return false;
  }
}

const CA_TIMEOUT_MS = 5_000;
const MAX_CLOCK_DIFFERENCE_MS = 60_000;

/** Whether DNS lookups work. */
export async function checkDns(config: Config): Promise<CheckResult | null> {
  if (!isOn(config)) return null;
  const from = config.dnsServers.length > 0 ? 'DNS_SERVERS' : "the system's resolvers";
  const answer = await new Resolver(config.dnsServers, Date.now).ask({
    name: config.platformHost,
    type: 'A',
  });
  const { server, question, rcode } = answer;
  if (answer instanceof DnsUnreachable) {
    const found = `${serverName(server)} on ${question.name} ${question.type}: ${answer.reason}`;
    return problem(found, `Correct ${from}: custom domains can't be verified.`);
  }
  const place = `${server.address}:${server.port}`;
  if (isDecisive(answer)) return ok(`${place} answers`);
  return problem(`${place} answers ${rcode}`, `Correct ${from}, or repair the server.`);
}

/** Whether the platform host has addresses: custom domains and generated subdomains point to them. */
export async function checkPlatformHost(config: Config): Promise<CheckResult | null> {
  const { platformHost } = config;
  if (!isOn(config)) return null;
  const resolver = new Resolver(config.dnsServers, Date.now);
  const addresses = await addressesOf(resolver, platformHost);
  if (addresses === null) return null;
  if (addresses.length === 0) {
    return problem(
      `${platformHost} has no address`,
      'Create its A and AAAA records, or correct PLATFORM_HOST.',
    );
  }
  const below = await addressesOf(resolver, `doctor-${Date.now().toString(36)}.${platformHost}`);
  if (below?.length === 0) {
    return problem(
      `${platformHost} has ${addresses.join(', ')}, but no name exists below it`,
      `Create *.${platformHost} too: projects have their generated subdomains there.`,
    );
  }
  return ok(`${platformHost} has ${addresses.join(', ')}`);
}

/** Whether the certificate authority answers, and its clock agrees with ours. */
export async function checkAuthority({ acme }: Config): Promise<CheckResult | null> {
  if (!acme) return null;
  const client = new AcmeClient(acme, Date.now);
  const remedy =
    'Correct ACME_DIRECTORY_URL or ACME_CA_FILE, or wait until the certificate authority answers.';
  try {
    const { dateMs, newOrder } = await client.directory(AbortSignal.timeout(CA_TIMEOUT_MS));
    const differenceMs = Math.abs((dateMs ?? Date.now()) - Date.now());
    if (differenceMs > MAX_CLOCK_DIFFERENCE_MS) {
      return problem(
        `the clock of ${acme.directoryUrl} differs by ${Math.round(differenceMs / 1000)} s`,
        'Set the clock, best with NTP: the validity of certificates depends on it.',
      );
    }
    return ok(`${new URL(newOrder).host} accepts orders`);
  } catch (error) {
    return problem(`${acme.directoryUrl}: ${(error as Error).message}`, remedy);
  }
}

/** Whether custom domains are configured. Without them these checks do not apply. */
function isOn({ acme, httpsPort, dnsServers }: Config): boolean {
  return acme !== null || httpsPort !== 0 || dnsServers.length > 0;
}

/** Null = DNS could not be asked, which `checkDns` reports. */
async function addressesOf(resolver: Resolver, name: string): Promise<string[] | null> {
  const types = ['A', 'AAAA'] as const;
  const answers = await Promise.all(types.map((type) => resolver.ask({ name, type })));
  if (answers.some((answer) => answer instanceof DnsUnreachable)) return null;
  return types.flatMap((type) => valuesOf(answers, type));
}
