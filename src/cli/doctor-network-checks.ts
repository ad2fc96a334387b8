import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { listeningUrl } from '../app/addresses.js';
import { AcmeClient } from '../domains/certificates/acme/acme-client.js';
import { DnsUnreachable, isDecisive, serverName, valuesOf } from '../domains/dns/dns-message.js';
import { Resolver } from '../domains/dns/resolver.js';
import type { Config } from '../ground/config/config.js';
import { type Listener, listenersOf, listenProblem } from '../process/start-problem.js';
import { type CheckResult, ok, problem } from './doctor-checks.js';

const HEALTH_TIMEOUT_MS = 2_000;
const ADDRESS_TYPES = ['A', 'AAAA'] as const;

/** Whether the ports are free, or a gateway uses them already. */
export async function checkPorts(config: Config): Promise<CheckResult> {
  const isGatewayThere = await isGateway(config);
  const free: Listener[] = [];
  const servers: Server[] = [];
  try {
    // All at once, as in the gateway: two settings can have the same port.
    for (const listener of listenersOf(config)) {
      const { name, port, host } = listener;
      const server = createServer().listen(port, host);
      servers.push(server);
      const error = await once(server, 'listening').then(
        () => null,
        (error: NodeJS.ErrnoException) => error,
      );
      if (error === null) free.push(listener);
      else if (error.code !== 'EADDRINUSE' || !isGatewayThere) {
        if (free.some((other) => other.port === port))
          return problem(`${name} is the port ${port} of another setting`, 'Change one.');
        return problem(...listenProblem(error, listener));
      }
    }
  } finally {
    for (const server of servers) server.close();
  }
  if (isGatewayThere) return ok(`a gateway answers on ${config.host}:${config.port}`);
  return ok(free.map(({ name, port, host }) => `${name} ${port} on ${host} is free`).join(', '));
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

/** Whether DNS lookups work, and the platform host has addresses: domains and generated subdomains point to them. */
export async function checkDns({
  acme,
  httpsPort,
  dnsServers,
  platformHost,
}: Config): Promise<CheckResult | null> {
  // Custom domains are not configured.
  if (acme === null && httpsPort === 0 && dnsServers.length === 0) return null;
  const resolver = new Resolver(dnsServers, Date.now);
  const below = `doctor-${Date.now().toString(36)}.${platformHost}`;
  const questions = [platformHost, below].flatMap((name) => ADDRESS_TYPES.map((type) => ({ name, type })));
  const answers = await Promise.all(questions.map((question) => resolver.ask(question)));
  const unknown = answers.find((answer) => !isDecisive(answer));
  if (unknown) {
    const { server, question, rcode } = unknown;
    const said = unknown instanceof DnsUnreachable ? unknown.reason : rcode;
    const from = dnsServers.length > 0 ? 'DNS_SERVERS' : "the system's resolvers";
    return problem(
      `${serverName(server)} on ${question.name} ${question.type}: ${said}`,
      `Correct ${from}, or repair the server: custom domains can't be verified.`,
    );
  }
  const addressesOf = (name: string) => {
    const ofName = answers.filter(({ question }) => question.name === name);
    return ADDRESS_TYPES.flatMap((type) => valuesOf(ofName, type)).join(', ');
  };
  const addresses = addressesOf(platformHost);
  if (addresses === '') {
    return problem(
      `${platformHost} has no address`,
      'Create its A and AAAA records, or correct PLATFORM_HOST.',
    );
  }
  if (addressesOf(below) !== '') return ok(`${platformHost} has ${addresses}`);
  return problem(
    `${platformHost} has ${addresses}, but no name exists below it`,
    `Create *.${platformHost} too: projects have their generated subdomains there.`,
  );
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
