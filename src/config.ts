import { isIP } from 'node:net';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const ENVIRONMENTS = ['production', 'staging'] as const;

export type DatabaseTarget =
  | { kind: 'sqlite'; path: string }
  | { kind: 'mysql' | 'mariadb'; url: string; tls: boolean };

export interface Config {
  readonly host: string;
  readonly port: number;
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

  return Object.freeze({
    host: text('HOST') ?? '127.0.0.1',
    port: wholeNumber('PORT', text('PORT'), { fallback: 4000, min: 0, max: 65_535 }),
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
    corsOrigins: origins('CORS_ORIGINS', text('CORS_ORIGINS')),
    logLevel: oneOf('LOG_LEVEL', text('LOG_LEVEL') ?? 'info', LOG_LEVELS),
    metricsPort: wholeNumber('METRICS_PORT', text('METRICS_PORT'), { fallback: 0, min: 0, max: 65_535 }),
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
