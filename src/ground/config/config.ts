import { type TracingSettings, tracingSettings } from './tracing-settings.js';
import {
  baseUrl,
  type DatabaseTarget,
  type DnsServer,
  databaseTarget,
  dnsServer,
  emailAddress,
  flag,
  hostname,
  httpsUrl,
  list,
  listenHost,
  networks,
  oneOf,
  origins,
  readAll,
  readableFile,
  redisUrl,
  secretKeysOf,
  wholeNumber,
} from './values.js';

export type { DnsServer } from './values.js';
export { ConfigError, type DatabaseTarget, databaseTarget, isInMemory } from './values.js';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const LOG_FORMATS = ['json', 'text'] as const;
const SWITCH = ['on', 'off'] as const;
const ENVIRONMENTS = ['production', 'staging'] as const;
const LOOPBACK = '127.0.0.1';

export interface AcmeSettings {
  readonly directoryUrl: string;
  readonly email: string | null;
  /** PEM file with the root certificates for HTTPS to a private CA; null = Node's. */
  readonly caFile: string | null;
  /** Issuer names expected in CAA records; empty = the names in the ACME directory. */
  readonly caaIdentities: readonly string[];
  /** Requested certificate profile; null = the CA's default. */
  readonly profile: string | null;
  readonly limits: AcmeLimits;
}

/** Limits of the CA for this gateway's account; the gateway orders less. */
export interface AcmeLimits {
  readonly ordersIn3Hours: number;
  /** For names of one registered domain, renewals aside. */
  readonly certificatesInAWeek: number;
}

export interface Config {
  readonly host: string;
  readonly port: number;
  /** TLS for custom domains; 0 = off. */
  readonly httpsPort: number;
  /** The port in redirects to HTTPS; null = `httpsPort`. */
  readonly publicHttpsPort: number | null;
  readonly database: DatabaseTarget;
  readonly databasePoolSize: number;
  /** Redis for shared counters and bans; null = this process counts alone. */
  readonly redisUrl: string | null;
  /** Networks whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  readonly environment: (typeof ENVIRONMENTS)[number];
  /** Without `/v1` and without a trailing slash; null = derived from the listen address. */
  readonly publicBaseUrl: string | null;
  readonly stagingBaseUrl: string | null;
  readonly platformHost: string;
  /** Resolvers; empty = the system's. */
  readonly dnsServers: readonly DnsServer[];
  /** Port of a zone's name servers: 53, except on a test network. */
  readonly nameServerPort: number;
  /** Whether name servers on private addresses may be queried. */
  readonly privateNameServers: boolean;
  /** Null = no certificates are ordered. */
  readonly acme: AcmeSettings | null;
  /** 32-byte keys that seal private keys: the first one seals, each one can open. Empty = domains are off. */
  readonly secretKeys: readonly Buffer[];
  /** Maximum number of open client connections; null = derived from the process's limit on descriptors. */
  readonly maxConnections: number | null;
  readonly corsOrigins: readonly string[];
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** Null = text on a terminal, JSON elsewhere. */
  readonly logFormat: (typeof LOG_FORMATS)[number] | null;
  readonly isRequestLogOn: boolean;
  /** Whether requests are refused while the process is overloaded. */
  readonly shedsLoad: boolean;
  readonly metricsHost: string;
  /** 0 = off. */
  readonly metricsPort: number;
  /** Null = nothing is traced. */
  readonly tracing: TracingSettings | null;
  readonly shutdownSeconds: number;
  readonly demo: boolean;
}

/** Reads and validates every setting; no other code reads the environment. Throws `ConfigError` with all problems. */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const text = (name: string): string | null => env[name]?.trim() || null;
  const port = (name: string, fallback: number, min = 0) =>
    wholeNumber(name, text(name), { fallback, min, max: 65_535 });
  const needsSecretKey = text('ACME_DIRECTORY_URL') !== null || !/^0*$/.test(text('HTTPS_PORT') ?? '');

  const config = readAll<Config>({
    host: () => listenHost('HOST', text('HOST') ?? LOOPBACK),
    port: () => port('PORT', 4000),
    httpsPort: () => port('HTTPS_PORT', 0),
    publicHttpsPort: () => (text('PUBLIC_HTTPS_PORT') === null ? null : port('PUBLIC_HTTPS_PORT', 443, 1)),
    database: () => databaseTarget('DATABASE_URL', text('DATABASE_URL') ?? 'sqlite:./var/petstore.sqlite'),
    databasePoolSize: () =>
      wholeNumber('DATABASE_POOL_SIZE', text('DATABASE_POOL_SIZE'), { fallback: 10, min: 1, max: 1_000 }),
    redisUrl: () => redisUrl('REDIS_URL', text('REDIS_URL')),
    trustedProxies: () => networks('TRUSTED_PROXIES', text('TRUSTED_PROXIES')),
    environment: () => oneOf('PETSTORE_ENV', text('PETSTORE_ENV') ?? 'production', ENVIRONMENTS),
    publicBaseUrl: () => baseUrl('PUBLIC_BASE_URL', text('PUBLIC_BASE_URL')),
    stagingBaseUrl: () => baseUrl('STAGING_BASE_URL', text('STAGING_BASE_URL')),
    platformHost: () => hostname('PLATFORM_HOST', text('PLATFORM_HOST') ?? 'petstore.localhost'),
    dnsServers: () => list(text('DNS_SERVERS')).map((entry) => dnsServer('DNS_SERVERS', entry)),
    nameServerPort: () => port('DNS_NAME_SERVER_PORT', 53, 1),
    privateNameServers: () => flag('DNS_PRIVATE_NAME_SERVERS', text('DNS_PRIVATE_NAME_SERVERS'), false),
    acme: () => acmeSettings(text),
    secretKeys: () =>
      secretKeysOf(text('SECRET_KEY'), text('SECRET_KEY_PREVIOUS'), { isNeeded: needsSecretKey }),
    corsOrigins: () => origins('CORS_ORIGINS', text('CORS_ORIGINS')),
    maxConnections: () =>
      text('MAX_CONNECTIONS') === null
        ? null
        : wholeNumber('MAX_CONNECTIONS', text('MAX_CONNECTIONS'), { fallback: 0, min: 1, max: 1_000_000 }),
    logLevel: () => oneOf('LOG_LEVEL', text('LOG_LEVEL') ?? 'info', LOG_LEVELS),
    logFormat: () => {
      const format = text('LOG_FORMAT');
      return format === null ? null : oneOf('LOG_FORMAT', format, LOG_FORMATS);
    },
    isRequestLogOn: () => oneOf('REQUEST_LOG', text('REQUEST_LOG') ?? 'on', SWITCH) === 'on',
    shedsLoad: () => oneOf('OVERLOAD', text('OVERLOAD') ?? 'on', SWITCH) === 'on',
    metricsHost: () => listenHost('METRICS_HOST', text('METRICS_HOST') ?? LOOPBACK),
    metricsPort: () => port('METRICS_PORT', 0),
    tracing: () => tracingSettings(text),
    shutdownSeconds: () =>
      wholeNumber('SHUTDOWN_SECONDS', text('SHUTDOWN_SECONDS'), { fallback: 20, min: 1, max: 600 }),
    demo: () => flag('DEMO', text('DEMO'), text('DATABASE_URL') === null),
  });
  return Object.freeze(config);
}

function acmeSettings(text: (name: string) => string | null): AcmeSettings | null {
  const directoryUrl = text('ACME_DIRECTORY_URL');
  if (directoryUrl === null) return null;
  const limit = (name: string, value: string | null, fallback: number) =>
    wholeNumber(name, value, { fallback, min: 10, max: 10_000 });
  return readAll<AcmeSettings>({
    directoryUrl: () => httpsUrl('ACME_DIRECTORY_URL', directoryUrl),
    email: () => emailAddress('ACME_EMAIL', text('ACME_EMAIL')),
    caFile: () => readableFile('ACME_CA_FILE', text('ACME_CA_FILE')),
    caaIdentities: () =>
      list(text('ACME_CAA_IDENTITIES')).map((entry) => hostname('ACME_CAA_IDENTITIES', entry)),
    profile: () => text('ACME_PROFILE'),
    limits: () => ({
      ordersIn3Hours: limit('ACME_ORDERS_IN_THREE_HOURS', text('ACME_ORDERS_IN_THREE_HOURS'), 300),
      certificatesInAWeek: limit('ACME_CERTIFICATES_IN_A_WEEK', text('ACME_CERTIFICATES_IN_A_WEEK'), 50),
    }),
  });
}
