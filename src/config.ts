import { accessSync, constants } from 'node:fs';
import { isIP } from 'node:net';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const ENVIRONMENTS = ['production', 'staging'] as const;

export type DatabaseTarget =
  | { kind: 'sqlite'; path: string }
  | { kind: 'mysql' | 'mariadb'; url: string; tls: boolean };

/** Whether the database ends with its connection, and no other process can reach it. */
export function isInMemory(target: DatabaseTarget): boolean {
  return target.kind === 'sqlite' && target.path === ':memory:';
}

/** Where a DNS server listens: an IP address and a port. */
export interface DnsServer {
  readonly address: string;
  readonly port: number;
}

export interface AcmeSettings {
  readonly directoryUrl: string;
  readonly email: string | null;
  /** PEM file with the roots of the CA's own HTTPS, for a private CA; null = those of Node. */
  readonly caFile: string | null;
  /** Issuer names looked for in CAA records; empty = those the directory names. */
  readonly caaIdentities: readonly string[];
  /** Certificate profile asked for; null = the CA's default. */
  readonly profile: string | null;
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
  /** Shared counters and bans; null = this process counts by itself. */
  readonly redisUrl: string | null;
  /** Networks whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  readonly environment: (typeof ENVIRONMENTS)[number];
  /** Without `/v1` and without a trailing slash; null = derived from where the process listens. */
  readonly publicBaseUrl: string | null;
  readonly stagingBaseUrl: string | null;
  readonly platformHost: string;
  /** Resolvers; empty = the system's. */
  readonly dnsServers: readonly DnsServer[];
  /** Where the name servers of a zone listen: 53, except on a test network. */
  readonly nameServerPort: number;
  /** Whether name servers on private addresses are asked. */
  readonly privateNameServers: boolean;
  /** Null = no certificates are ordered. */
  readonly acme: AcmeSettings | null;
  /** Keys of 32 bytes that seal private keys; the first seals, all open. Empty = domains are off. */
  readonly secretKeys: readonly Buffer[];
  readonly corsOrigins: readonly string[];
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** 0 = off. */
  readonly metricsPort: number;
  readonly shutdownSeconds: number;
  readonly demo: boolean;
}

/** A setting that can't be used: one line that names the variable and says what it should be. */
export class ConfigError extends Error {}

/** Reads and checks every setting. The only reader of the environment. Throws `ConfigError`. */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const text = (name: string): string | null => env[name]?.trim() || null;

  const port = (name: string, fallback: number, min = 0) =>
    wholeNumber(name, text(name), { fallback, min, max: 65_535 });
  const acme = acmeSettings(text);
  const secretKeys = secretKeysOf(text('SECRET_KEY'), text('SECRET_KEY_PREVIOUS'));
  const httpsPort = port('HTTPS_PORT', 0);
  if ((acme || httpsPort !== 0) && secretKeys.length === 0) {
    throw new ConfigError(
      `SECRET_KEY must be set for certificates: ${SECRET_KEY_FORM}. Make one with: openssl rand -base64 32`,
    );
  }

  return Object.freeze({
    host: text('HOST') ?? '127.0.0.1',
    port: port('PORT', 4000),
    httpsPort,
    publicHttpsPort: text('PUBLIC_HTTPS_PORT') === null ? null : port('PUBLIC_HTTPS_PORT', 443, 1),
    database: databaseTarget(text('DATABASE_URL') ?? 'sqlite:./var/petstore.sqlite'),
    databasePoolSize: wholeNumber('DATABASE_POOL_SIZE', text('DATABASE_POOL_SIZE'), {
      fallback: 10,
      min: 1,
      max: 1_000,
    }),
    redisUrl: redisUrl('REDIS_URL', text('REDIS_URL')),
    trustedProxies: networks('TRUSTED_PROXIES', text('TRUSTED_PROXIES')),
    environment: oneOf('PETSTORE_ENV', text('PETSTORE_ENV') ?? 'production', ENVIRONMENTS),
    publicBaseUrl: baseUrl('PUBLIC_BASE_URL', text('PUBLIC_BASE_URL')),
    stagingBaseUrl: baseUrl('STAGING_BASE_URL', text('STAGING_BASE_URL')),
    platformHost: hostname('PLATFORM_HOST', text('PLATFORM_HOST') ?? 'petstore.localhost'),
    dnsServers: list(text('DNS_SERVERS')).map((entry) => dnsServer('DNS_SERVERS', entry)),
    nameServerPort: port('DNS_NAME_SERVER_PORT', 53, 1),
    privateNameServers: flag('DNS_PRIVATE_NAME_SERVERS', text('DNS_PRIVATE_NAME_SERVERS'), false),
    acme,
    secretKeys,
    corsOrigins: origins('CORS_ORIGINS', text('CORS_ORIGINS')),
    logLevel: oneOf('LOG_LEVEL', text('LOG_LEVEL') ?? 'info', LOG_LEVELS),
    metricsPort: port('METRICS_PORT', 0),
    shutdownSeconds: wholeNumber('SHUTDOWN_SECONDS', text('SHUTDOWN_SECONDS'), {
      fallback: 20,
      min: 1,
      max: 600,
    }),
    demo: flag('DEMO', text('DEMO'), text('DATABASE_URL') === null),
  });
}

function refuse(name: string, shouldBe: string, value: string): never {
  throw new ConfigError(`${name} must be ${shouldBe}, not ${JSON.stringify(value)}.`);
}

function wholeNumber(
  name: string,
  value: string | null,
  { fallback, min, max }: { fallback: number; min: number; max: number },
): number {
  if (value === null) return fallback;
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number;
  return refuse(name, `a whole number from ${min} to ${max}`, value);
}

function oneOf<T extends string>(name: string, value: string, allowed: readonly T[]): T {
  return (
    allowed.find((candidate) => candidate === value) ?? refuse(name, `one of ${allowed.join(', ')}`, value)
  );
}

function flag(name: string, value: string | null, fallback: boolean): boolean {
  if (value === null) return fallback;
  if (value === '1' || value === '0') return value === '1';
  return refuse(name, '1 or 0', value);
}

function httpUrl(value: string): URL | null {
  const url = URL.canParse(value) ? new URL(value) : null;
  return url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username ? url : null;
}

function baseUrl(name: string, value: string | null): string | null {
  if (value === null) return null;
  const url = httpUrl(value);
  if (!url || /\/v1\/?$/.test(url.pathname)) {
    return refuse(name, 'an http(s) address without /v1, such as https://api.example.com', value);
  }
  return url.href.replace(/\/+$/, '');
}

function hostname(name: string, value: string): string {
  if (/^(?=.{1,253}$)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/.test(value)) return value;
  return refuse(name, 'a lower-case host name such as petstore.example.com', value);
}

function origins(name: string, value: string | null): string[] {
  return list(value).map((entry) => {
    if (httpUrl(entry)?.origin === entry) return entry;
    return refuse(name, 'origins separated by commas, such as https://app.example.com', entry);
  });
}

function redisUrl(name: string, value: string | null): string | null {
  const url = value !== null && URL.canParse(value) ? new URL(value) : null;
  if (value === null || (url?.hostname && /^rediss?:$/.test(url.protocol))) return value;
  // The value may hold a password: it is not repeated.
  throw new ConfigError(`${name} must be redis://host:6379 or rediss://user:password@host:6379.`);
}

function networks(name: string, value: string | null): string[] {
  return list(value).map((entry) => {
    const [address = '', bits, ...rest] = entry.split('/');
    const family = isIP(address);
    const isPrefix =
      bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
    if (family !== 0 && isPrefix && rest.length === 0) return entry;
    return refuse(name, 'addresses or networks separated by commas, such as 10.0.0.0/8', entry);
  });
}

const SECRET_KEY_FORM = '32 bytes in base64 or hexadecimal';

/** The value is a secret: it is not repeated. */
function secretKeysOf(current: string | null, previous: string | null): Buffer[] {
  if (current === null && previous !== null) {
    throw new ConfigError('SECRET_KEY must be set when SECRET_KEY_PREVIOUS is.');
  }
  const read = (name: string) => (value: string) => {
    const isHex = /^[0-9a-f]{64}$/i.test(value);
    const key = Buffer.from(value, isHex ? 'hex' : 'base64');
    if (key.length === 32 && (isHex || /^[A-Za-z0-9+/_-]{43}=?$/.test(value))) return key;
    throw new ConfigError(`${name} must be ${SECRET_KEY_FORM}.`);
  };
  return [
    ...(current === null ? [] : [read('SECRET_KEY')(current)]),
    ...list(previous).map(read('SECRET_KEY_PREVIOUS')),
  ];
}

function acmeSettings(text: (name: string) => string | null): AcmeSettings | null {
  const directoryUrl = text('ACME_DIRECTORY_URL');
  if (directoryUrl === null) return null;
  const url = httpUrl(directoryUrl);
  if (url?.protocol !== 'https:') {
    return refuse(
      'ACME_DIRECTORY_URL',
      'an https address such as https://acme.example.org/directory',
      directoryUrl,
    );
  }
  const email = text('ACME_EMAIL');
  if (email !== null && !/^[^\s@,]+@[^\s@,]+$/.test(email)) {
    return refuse('ACME_EMAIL', 'an e-mail address', email);
  }
  return {
    directoryUrl: url.href,
    email,
    caFile: readableFile('ACME_CA_FILE', text('ACME_CA_FILE')),
    caaIdentities: list(text('ACME_CAA_IDENTITIES')).map((entry) => hostname('ACME_CAA_IDENTITIES', entry)),
    profile: text('ACME_PROFILE'),
  };
}

function readableFile(name: string, path: string | null): string | null {
  if (path === null) return null;
  try {
    accessSync(path, constants.R_OK);
    return path;
  } catch {
    return refuse(name, 'a PEM file that can be read', path);
  }
}

function dnsServer(name: string, entry: string): DnsServer {
  const [, v6, v6Port] = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(entry) ?? [];
  const [, v4, v4Port] = /^([^:]+)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const address = v6 ?? v4 ?? entry;
  const port = Number(v6Port ?? v4Port ?? 53);
  if (isIP(address) !== 0 && port >= 1 && port <= 65_535) return { address, port };
  return refuse(name, 'addresses separated by commas, such as 9.9.9.9 or [2620:fe::fe]:53', entry);
}

function list(value: string | null): string[] {
  const entries = (value ?? '').split(',').map((entry) => entry.trim());
  return entries.filter((entry) => entry !== '');
}

function databaseTarget(value: string): DatabaseTarget {
  const shouldBe = 'mysql://user:password@host:3306/database, mariadb://…, sqlite:path or sqlite::memory:';
  const sqlite = /^sqlite:(?!\/\/)(.+)$/.exec(value);
  if (sqlite?.[1]) return { kind: 'sqlite', path: sqlite[1] };

  const url = URL.canParse(value) ? new URL(value) : null;
  const kind = url?.protocol === 'mysql:' ? 'mysql' : url?.protocol === 'mariadb:' ? 'mariadb' : null;
  // The value holds a password: it is never repeated, neither here nor in a log.
  if (!url?.hostname || !kind || !/^\/[^/]+$/.test(url.pathname)) {
    throw new ConfigError(`DATABASE_URL must be ${shouldBe}.`);
  }
  const tls = ['1', 'true'].includes(url.searchParams.get('ssl') ?? '');
  url.search = '';
  return { kind, url: url.href, tls };
}
