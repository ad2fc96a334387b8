import type { Config } from '../config.js';
import type { Resolver } from '../dns/resolver.js';
import { type Finding, ok, problem } from './finding.js';

const CA_TIMEOUT_MS = 5_000;
const MAX_CLOCK_DIFFERENCE_MS = 60_000;

/** Whether names can be looked up at all. */
export async function checkDns(config: Config): Promise<Finding | null> {
  if (!isOn(config)) return null;
  const from = config.dnsServers.length > 0 ? 'DNS_SERVERS' : "the system's resolvers";
  const resolver = await resolverOf(config);
  try {
    const { server, rcode } = await resolver.ask({ name: config.platformHost, type: 'A' });
    if (rcode === 'NOERROR' || rcode === 'NXDOMAIN') return ok(`${server.address}:${server.port} answers`);
    return problem(
      `${server.address}:${server.port} answers ${rcode}`,
      `Correct ${from}, or see to the server.`,
    );
  } catch (error) {
    return problem((error as Error).message, `Correct ${from}: custom domains can't be verified.`);
  }
}

/** Every custom domain leads to these addresses, and every generated subdomain below. */
export async function checkPlatformHost(config: Config): Promise<Finding | null> {
  const { platformHost } = config;
  if (!isOn(config)) return null;
  const resolver = await resolverOf(config);
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
      `${platformHost} has ${addresses.join(', ')}, and nothing is below it`,
      `Create *.${platformHost} too: projects have their generated subdomains there.`,
    );
  }
  return ok(`${platformHost} has ${addresses.join(', ')}`);
}

/** Whether the authority answers, and agrees about the time. */
export async function checkAuthority({ acme }: Config): Promise<Finding | null> {
  if (!acme) return null;
  const { AcmeClient } = await import('../certificates/acme-client.js');
  const client = new AcmeClient(acme, Date.now);
  const remedy = 'Correct ACME_DIRECTORY_URL or ACME_CA_FILE, or wait for the authority.';
  try {
    const { dateMs, newOrder } = await client.directory(AbortSignal.timeout(CA_TIMEOUT_MS));
    const differenceMs = Math.abs((dateMs ?? Date.now()) - Date.now());
    if (differenceMs > MAX_CLOCK_DIFFERENCE_MS) {
      return problem(
        `${acme.directoryUrl} says it is ${Math.round(differenceMs / 1000)} s earlier or later`,
        'Set the clock, best by NTP: certificates are valid by it.',
      );
    }
    return ok(`${new URL(newOrder).host} takes orders`);
  } catch (error) {
    return problem(`${acme.directoryUrl}: ${(error as Error).message}`, remedy);
  } finally {
    client.close();
  }
}

/** Without custom domains nothing is looked up. */
function isOn({ acme, httpsPort, dnsServers }: Config): boolean {
  return acme !== null || httpsPort !== 0 || dnsServers.length > 0;
}

async function resolverOf({ dnsServers }: Config): Promise<Resolver> {
  const dns = await import('../dns/resolver.js');
  return new dns.Resolver(dnsServers, Date.now);
}

/** Null = could not be asked, which another check tells. */
async function addressesOf(resolver: Resolver, name: string): Promise<string[] | null> {
  try {
    const answers = await Promise.all((['A', 'AAAA'] as const).map((type) => resolver.ask({ name, type })));
    return answers.flatMap(({ records }) =>
      records.filter(({ type }) => type === 'A' || type === 'AAAA').map(({ value }) => value),
    );
  } catch {
    return null;
  }
}
