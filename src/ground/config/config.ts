import { tracingSettings } from './tracing-settings.js';
import * as form from './values.js';

export type { Consistency, DatabaseTarget, DnsServer, MysqlTarget } from './values.js';
export { ConfigError, databaseTarget, eachServer, isInMemory } from './values.js';

const LOOPBACK = '127.0.0.1';
const PORT = form.wholeNumber(0, 65_535);
const PORT_IN_USE = form.wholeNumber(1, 65_535);

export type Config = ReturnType<typeof loadConfig>;

/** Reads and validates every setting; no other code reads the environment. Throws `ConfigError` with all problems. `slug` is the gateway's. */
export function loadConfig(env: NodeJS.ProcessEnv, slug = 'petstore') {
  const variables = new form.Variables(env);
  const { read, optional, text } = variables;
  const httpsPort = read('HTTPS_PORT', PORT, '0');
  const ofCertificates = ['ACME_DIRECTORY_URL', 'SECRET_KEY', 'SECRET_KEY_PREVIOUS'];
  const needsSecretKey = httpsPort !== 0 || ofCertificates.some((name) => text(name) !== null);

  const database = read('DATABASE_URL', form.databaseTarget, 'sqlite:./var/petstore.sqlite');
  const config = {
    host: read('HOST', form.listenHost, LOOPBACK),
    port: read('PORT', PORT, '4000'),
    /** TLS for custom domains; 0 = off. */
    httpsPort,
    /** The port in redirects to HTTPS; null = `httpsPort`. */
    publicHttpsPort: optional('PUBLIC_HTTPS_PORT', PORT_IN_USE),
    database: {
      ...database,
      consistency: read('DATABASE_CONSISTENCY', form.oneOf(['strict', 'local']), 'strict'),
    },
    /** A replica that answers lists; null = none. */
    replica: optional('DATABASE_READ_URL', form.replicaTarget(database)),
    databasePoolSize: read('DATABASE_POOL_SIZE', form.wholeNumber(1, 1_000), '10'),
    /** Redis for shared counters and bans; null = this process counts alone. */
    redisUrl: optional('REDIS_URL', form.redisUrl),
    /** Networks whose `X-Forwarded-For` is trusted. */
    trustedProxies: read('TRUSTED_PROXIES', form.each(form.network), ''),
    environment: read('PETSTORE_ENV', form.oneOf(['production', 'staging']), 'production'),
    /** Without `/v1` and without a trailing slash; null = derived from the listen address. */
    publicBaseUrl: optional('PUBLIC_BASE_URL', form.baseUrl),
    stagingBaseUrl: optional('STAGING_BASE_URL', form.baseUrl),
    platformHost: read('PLATFORM_HOST', form.hostname, `${slug}.localhost`),
    /** Resolvers; empty = the system's. */
    dnsServers: read('DNS_SERVERS', form.each(form.dnsServer), ''),
    /** Port of a zone's name servers: 53, except on a test network. */
    nameServerPort: read('DNS_NAME_SERVER_PORT', PORT_IN_USE, '53'),
    /** Whether name servers on private addresses may be queried. */
    privateNameServers: read('DNS_PRIVATE_NAME_SERVERS', form.flag, '0'),
    /** Null = no certificates are ordered. */
    acme: text('ACME_DIRECTORY_URL') === null ? null : acmeSettings(variables),
    /** 32-byte keys that seal private keys: the first one seals, each one can open. Empty = domains are off. */
    secretKeys: [
      needsSecretKey ? read('SECRET_KEY', form.secretKey, '') : [],
      read('SECRET_KEY_PREVIOUS', form.each(form.secretKey), ''),
    ].flat(),
    corsOrigins: read('CORS_ORIGINS', form.each(form.origin), ''),
    /** Maximum number of open client connections; null = derived from the process's limit on descriptors. */
    maxConnections: optional('MAX_CONNECTIONS', form.wholeNumber(1, 1_000_000)),
    logLevel: read(
      'LOG_LEVEL',
      form.oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
      'info',
    ),
    /** Null = text on a terminal, JSON elsewhere. */
    logFormat: optional('LOG_FORMAT', form.oneOf(['json', 'text'])),
    isRequestLogOn: read('REQUEST_LOG', form.onOrOff, 'on'),
    /** Whether requests are refused while the process is overloaded. */
    shedsLoad: read('OVERLOAD', form.onOrOff, 'on'),
    metricsHost: read('METRICS_HOST', form.listenHost, LOOPBACK),
    /** 0 = off. */
    metricsPort: read('METRICS_PORT', PORT, '0'),
    /** Null = nothing is traced. */
    tracing: tracingSettings(variables),
    shutdownSeconds: read('SHUTDOWN_SECONDS', form.wholeNumber(1, 600), '20'),
    demo: read('DEMO', form.flag, text('DATABASE_URL') === null ? '1' : '0'),
  };
  variables.requireValid();
  return Object.freeze(config);
}

/** The empty database of a test run. A server does not read it. */
export function testDatabaseUrl(env: NodeJS.ProcessEnv): string {
  return new form.Variables(env).text('TEST_DATABASE_URL') ?? 'sqlite::memory:';
}

export type AcmeSettings = ReturnType<typeof acmeSettings>;
export type AcmeLimits = AcmeSettings['limits'];

function acmeSettings({ read, optional, text }: form.Variables) {
  return {
    directoryUrl: read('ACME_DIRECTORY_URL', form.httpsUrl, ''),
    email: optional('ACME_EMAIL', form.emailAddress),
    /** PEM file with the root certificates for HTTPS to a private CA; null = Node's. */
    caFile: optional('ACME_CA_FILE', form.readableFile),
    /** Issuer names expected in CAA records; empty = the names in the ACME directory. */
    caaIdentities: read('ACME_CAA_IDENTITIES', form.each(form.hostname), ''),
    /** Requested certificate profile; null = the CA's default. */
    profile: text('ACME_PROFILE'),
    /** Limits of the CA for this gateway's account; the gateway orders less. */
    limits: {
      ordersIn3Hours: read('ACME_ORDERS_IN_THREE_HOURS', form.wholeNumber(10, 10_000), '300'),
      /** For names of one registered domain, renewals aside. */
      certificatesInAWeek: read('ACME_CERTIFICATES_IN_A_WEEK', form.wholeNumber(10, 10_000), '50'),
    },
  };
}
