import type { LoadedGateway } from '../../../src/app/gateway.js';
import type { DomainStatus } from '../../../src/domains/store/domain-status.js';
import type { DatabaseKind } from '../databases.js';
import { type DnsServerDouble, startDnsServer } from '../dns/dns-server.js';
import { eventually } from '../eventually.js';
import { graphql } from '../http/client.js';
import { freePort } from '../servers/daemon.js';
import { type Pebble, type PebbleOptions, startPebble } from '../servers/pebble.js';
import { startApp, type Tenant, type TestApp } from '../start-app.js';
import { type AcmeProxy, startAcmeProxy } from './acme-proxy.js';

export const PLATFORM_HOST = 'petstore.test';
const DOMAIN_FIELDS = `
  id hostname status serving primary redirect { from to status }
  instructions { type name label value ttl }
  diagnoses { code severity actor cause remedy retryAt evidence { server question answer ttl at } }
  certificate { issuer serialNumber notBefore notAfter renewAt }
  checkedAt nextCheckAt nextOrderAt
  timeline { at name message }`;

/** A real DNS server and a real CA, which a gateway needs for custom domains. */
export interface Surroundings {
  dns: DnsServerDouble;
  pebble: Pebble;
  /** The proxy in front of Pebble; every gateway orders through it. */
  ca: AcmeProxy;
  /** Settings for gateways, without ports and database. */
  env: Record<string, string>;
  stop(): Promise<void>;
}

interface RigOptions {
  pebble?: Partial<PebbleOptions>;
  env?: Record<string, string>;
  gateway?: LoadedGateway;
  refusesByCaa?: (hostname: string) => boolean;
}

/** `httpPort`: the port at which the CA validates. */
export async function startSurroundings(httpPort: number, options: RigOptions = {}): Promise<Surroundings> {
  const dns = await startDnsServer();
  dns.zone(PLATFORM_HOST);
  dns.zone('customer.test');
  dns.set(PLATFORM_HOST, 'A', '127.0.0.1');
  const pebble = await startPebble({ dnsServer: dns.hostPort, httpPort, ...options.pebble });
  const ca = await startAcmeProxy(pebble, options.refusesByCaa ? { refusesByCaa: options.refusesByCaa } : {});
  const env = {
    PLATFORM_HOST,
    DNS_SERVERS: dns.hostPort,
    DNS_NAME_SERVER_PORT: String(dns.port),
    DNS_PRIVATE_NAME_SERVERS: '1',
    ACME_DIRECTORY_URL: ca.directoryUrl,
    ACME_CA_FILE: pebble.caFile,
    ACME_CAA_IDENTITIES: 'ca.test',
    SECRET_KEY: 'ab'.repeat(32),
    ...options.env,
  };
  const stop = async () => {
    await ca.stop();
    await pebble.stop();
    await dns.stop();
  };
  return { dns, pebble, ca, env, stop };
}

export interface DomainRig extends TestApp, Surroundings {
  httpsPort: number;
}

/** Starts a gateway with its surroundings. Its clock stands still until `letGo`. */
export async function startDomainRig(kind: DatabaseKind, options: RigOptions = {}): Promise<DomainRig> {
  const [port, httpsPort] = [await freePort(), await freePort()];
  const surroundings = await startSurroundings(port, options);
  const env = { ...surroundings.env, PORT: String(port), HTTPS_PORT: String(httpsPort) };
  const app = await startApp({ kind, env, ...(options.gateway && { gateway: options.gateway }) });
  const stop = async () => {
    await app.stop();
    await surroundings.stop();
  };
  return { ...app, ...surroundings, env, httpsPort, stop };
}

/** From now on the clock of the app is the real time plus `aheadMs`. */
export function letGo(clock: { now: number }): { aheadMs: number } {
  const offset = { aheadMs: 0 };
  Object.defineProperty(clock, 'now', { get: () => Date.now() + offset.aheadMs });
  return offset;
}

/** Creates a project that may have domains. */
export async function publishedTenant(
  app: TestApp,
  options: Parameters<TestApp['tenant']>[0] = {},
): Promise<Tenant> {
  const tenant = await app.tenant(options);
  await app.app.services.projects.publish({ name: 'test', requestId: null }, tenant.projectId);
  return tenant;
}

// biome-ignore lint/suspicious/noExplicitAny: answers have many shapes; a wrong access fails the test.
type AnyDomain = any;

const isCutShort = ({ diagnoses }: AnyDomain): boolean =>
  diagnoses.some(({ code }: AnyDomain) => code === 'DNS_UNREACHABLE' || code === 'CAA_LOOKUP_FAILED');

/** The domain mutations of an owner's client; each returns the answer's data, and throws the first error. */
export function ownerOf({ url }: { url: string }, { token }: Pick<Tenant, 'token'>) {
  const ask = async (query: string, variables: Record<string, unknown> = {}): Promise<AnyDomain> => {
    const { body } = await graphql(url, query, { token, variables });
    if (body.errors) throw Object.assign(new Error(body.errors[0].message), body.errors[0].extensions);
    return body.data;
  };
  const onOne = (field: string) => async (id: string) =>
    (await ask(`mutation($id: ID!) { it: ${field}(id: $id) { ${DOMAIN_FIELDS} } }`, { id })).it;
  const verifyOnce = onOne('verifyDomain');
  const reverify = onOne('reverifyDomain');
  /** As its owner would do, it asks once more when there was no answer: a stall of this process ends a check after 1.3 s. */
  const verify = async (id: string) => {
    const checked = await verifyOnce(id);
    return isCutShort(checked) ? verifyOnce(id) : checked;
  };
  const read = async (id: string) =>
    (await ask(`query($id: ID!) { it: domain(id: $id) { ${DOMAIN_FIELDS} } }`, { id })).it;
  return {
    ask,
    add: async (hostname: string) =>
      (
        await ask(
          `mutation($hostname: String!) { it: addDomain(hostname: $hostname) { ${DOMAIN_FIELDS} } }`,
          { hostname },
        )
      ).it,
    verify,
    reverify,
    read,
    remove: async (id: string) =>
      (await ask('mutation($id: ID!) { it: removeDomain(id: $id) { id hostname stoppedAt } }', { id })).it,
    set: async (input: object, dryRun = false) =>
      (
        await ask(
          `mutation($input: DomainsInput!, $dryRun: Boolean) { it: setDomains(input: $input, dryRun: $dryRun) {
            primary redirects { from to status } applied effects { hostname action to status example } } }`,
          { input, dryRun },
        )
      ).it,
    become: (id: string, status: DomainStatus, withinMs = 20_000): Promise<AnyDomain> =>
      eventually(
        `domain ${id} is ${status}`,
        async () => {
          const domain = await read(id);
          if (status === 'ACTIVE' && isCutShort(domain)) await reverify(id);
          if (domain.status !== status) throw new Error(JSON.stringify(domain));
          return domain;
        },
        withinMs,
        // A key may ask 120 times a minute.
        Math.min(withinMs / 100, 500),
      ),
  };
}
