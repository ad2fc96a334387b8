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
  readonly environment: (typeof ENVIRONMENTS)[number];
  /** Without `/v1` and without a trailing slash; null = derived from where the process listens. */
  readonly publicBaseUrl: string | null;
  readonly stagingBaseUrl: string | null;
  readonly platformHost: string;
  readonly corsOrigins: readonly string[];
  readonly logLevel: (typeof LOG_LEVELS)[number];
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
    environment: oneOf('PETSTORE_ENV', text('PETSTORE_ENV') ?? 'production', ENVIRONMENTS),
    publicBaseUrl: baseUrl('PUBLIC_BASE_URL', text('PUBLIC_BASE_URL')),
    stagingBaseUrl: baseUrl('STAGING_BASE_URL', text('STAGING_BASE_URL')),
    platformHost: hostname('PLATFORM_HOST', text('PLATFORM_HOST') ?? 'petstore.localhost'),
    corsOrigins: origins('CORS_ORIGINS', text('CORS_ORIGINS')),
    logLevel: oneOf('LOG_LEVEL', text('LOG_LEVEL') ?? 'info', LOG_LEVELS),
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
  const entries = (value ?? '').split(',').map((entry) => entry.trim());
  return entries
    .filter((entry) => entry !== '')
    .map((entry) => {
      if (httpUrl(entry)?.origin === entry) return entry;
      return refuse(name, 'origins separated by commas, such as https://app.example.com', entry);
    });
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
