import { accessSync, constants } from 'node:fs';
import { isIP } from 'node:net';
import { parseUrl } from '../kernel/networks.js';
import { named, parseServers, REDIS_FORMS, redisTarget, type ServerAddress } from './servers.js';

/** Invalid settings. Each problem is one line that names the variable and the expected value. */
export class ConfigError extends Error {
  constructor(
    firstProblem: string,
    readonly problems: readonly string[] = [firstProblem],
  ) {
    super(firstProblem);
  }
}

/** Reads a value that is set. Throws `ConfigError`. */
type Parser<T> = (name: string, value: string) => T;

/** The variables of the process. An empty one counts as not set. */
export class Variables {
  private readonly problems: string[] = [];

  constructor(private readonly env: NodeJS.ProcessEnv) {}

  readonly text = (name: string): string | null => this.env[name]?.trim() || null;

  /** An invalid value is undefined until `requireValid` throws, so that all problems are found. */
  readonly read = <T>(name: string, parse: Parser<T>, fallback: string): T => {
    try {
      return parse(name, this.text(name) ?? fallback);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.problems.push(error.message);
      return undefined as T;
    }
  };

  readonly optional = <T>(name: string, parse: Parser<T>): T | null =>
    this.text(name) === null ? null : this.read(name, parse, '');

  /** Throws `ConfigError` with the problems of all variables that were read. */
  requireValid(): void {
    const [first] = this.problems;
    if (first !== undefined) throw new ConfigError(first, this.problems);
  }
}

/** The message repeats the value only if it is given: others may hold passwords and keys. */
export function refuse(name: string, shouldBe: string, value?: string): never {
  const instead = value === undefined ? '' : `, not ${JSON.stringify(value)}`;
  throw new ConfigError(`${name} must be ${shouldBe}${instead}.`);
}

/** A text that passes the test. */
function textThat(isValid: (value: string) => boolean, shouldBe: string): Parser<string> {
  return (name, value) => (isValid(value) ? value : refuse(name, shouldBe, value));
}

/** Values separated by commas. */
export function each<T>(parse: Parser<T>): Parser<T[]> {
  return (name, value) => {
    const entries = value.split(',').map((entry) => entry.trim());
    return entries.filter((entry) => entry !== '').map((entry) => parse(name, entry));
  };
}

export function wholeNumber(min: number, max: number): Parser<number> {
  return (name, value) => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    return refuse(name, `a whole number from ${min} to ${max}`, value);
  };
}

export function oneOf<const T extends string>(allowed: readonly T[]): Parser<T> {
  return (name, value) =>
    allowed.find((candidate) => candidate === value) ?? refuse(name, `one of ${allowed.join(', ')}`, value);
}

export function onOrOff(name: string, value: string): boolean {
  return oneOf(['on', 'off'])(name, value) === 'on';
}

export function flag(name: string, value: string): boolean {
  return value === '1' || (value !== '0' && refuse(name, '1 or 0', value));
}

function httpUrl(value: string): URL | null {
  const url = parseUrl(value);
  return url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username ? url : null;
}

export function httpsUrl(name: string, value: string): string {
  const url = httpUrl(value);
  if (url?.protocol === 'https:') return url.href;
  return refuse(name, 'an https address such as https://acme.example.org/directory', value);
}

/** Without a trailing slash. */
export function httpEndpoint(name: string, value: string): string {
  const url = httpUrl(value);
  if (url) return url.href.replace(/\/+$/, '');
  return refuse(name, 'an http(s) address such as http://127.0.0.1:4318, without a password');
}

export const emailAddress = textThat((value) => /^[^\s@,]+@[^\s@,]+$/.test(value), 'an e-mail address');

export function baseUrl(name: string, value: string): string {
  const url = httpUrl(value);
  if (url && !/\/v1\/?$/.test(url.pathname)) return url.href.replace(/\/+$/, '');
  return refuse(name, 'an http(s) address without /v1, such as https://api.example.com', value);
}

/** An address to listen on: an IP address or a name of this machine, which may have underscores in a container. */
export const listenHost = textThat(
  (value) => isIP(value) !== 0 || /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i.test(value),
  'an IP address or a host name, such as 127.0.0.1',
);

export const hostname = textThat(
  (value) => /^(?=.{1,253}$)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/.test(value),
  'a lower-case host name such as petstore.example.com',
);

export const origin = textThat(
  (value) => httpUrl(value)?.origin === value,
  'origins separated by commas, such as https://app.example.com',
);

export const network = textThat((value) => {
  const [, address = value, bits = 0] = /^(.+)\/(\d{1,3})$/.exec(value) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128);
}, 'addresses or networks separated by commas, such as 10.0.0.0/8');

export const readableFile = textThat((path) => {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}, 'a PEM file that can be read');

/** The address of a DNS server: an IP address and a port. */
export interface DnsServer {
  readonly address: string;
  readonly port: number;
}

export function dnsServer(name: string, entry: string): DnsServer {
  const [, v6, v6Port] = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(entry) ?? [];
  const [, v4, v4Port] = /^([^:]+)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const address = v6 ?? v4 ?? entry;
  const port = Number(v6Port ?? v4Port ?? 53);
  if (isIP(address) !== 0 && port >= 1 && port <= 65_535) return { address, port };
  return refuse(name, 'addresses separated by commas, such as 9.9.9.9 or [2620:fe::fe]:53', entry);
}

export function redisUrl(name: string, value: string): string {
  return redisTarget(value) ? value : refuse(name, REDIS_FORMS);
}

/** A read on a node of a cluster shows all that any node has acknowledged, or what this node has applied. */
export type Consistency = 'strict' | 'local';

/** Without a consistency it is strict. */
export type DatabaseTarget = { consistency?: Consistency } & ({ kind: 'sqlite'; path: string } | MysqlTarget);

export interface MysqlTarget {
  kind: 'mysql' | 'mariadb';
  /** Of the first server. */
  url: string;
  servers: readonly ServerAddress[];
  tls: boolean;
}

/** Whether the database is in memory: it ends with its connection, and no other process can reach it. */
export function isInMemory(target: DatabaseTarget): boolean {
  return target.kind === 'sqlite' && target.path === ':memory:';
}

export function databaseTarget(name: string, value: string): DatabaseTarget {
  const sqlite = /^sqlite:(?!\/\/)(.+)$/.exec(value);
  if (sqlite?.[1]) return { kind: 'sqlite', path: sqlite[1] };

  const { url, servers = [] } = parseServers(value, 3_306) ?? {};
  const kind = url?.protocol === 'mysql:' ? 'mysql' : url?.protocol === 'mariadb:' ? 'mariadb' : null;
  if (!url || !kind || !/^\/[^/]+$/.test(url.pathname)) {
    refuse(name, 'mysql://user:password@host:3306/database, mariadb://…, sqlite:path or sqlite::memory:');
  }
  const tls = ['1', 'true'].includes(url.searchParams.get('ssl') ?? '');
  url.search = '';
  return { kind, url: url.href, servers, tls };
}

/** A target for each server of the database. */
export function eachServer<T extends DatabaseTarget>(target: T): T[] {
  if (target.kind === 'sqlite') return [target];
  return target.servers.map((server) => {
    const url = new URL(target.url);
    url.host = named(server);
    return { ...target, url: url.href, servers: [server] };
  });
}

/** A replica of the database, which is at `of`. */
export function replicaTarget(of: DatabaseTarget | undefined): Parser<MysqlTarget> {
  return (name, value) => {
    const target = databaseTarget(name, value);
    if (target.kind === 'sqlite' || target.servers.length > 1)
      refuse(name, 'one address of MySQL or MariaDB');
    if (of?.kind === 'sqlite') throw new ConfigError(`${name} needs MySQL or MariaDB in DATABASE_URL.`);
    return target;
  };
}

/** The value is empty when a key is needed and not set. */
export function secretKey(name: string, value: string): Buffer {
  const isHex = /^[0-9a-f]{64}$/i.test(value);
  const key = Buffer.from(value, isHex ? 'hex' : 'base64');
  if (key.length === 32 && (isHex || /^[A-Za-z0-9+/_-]{43}=?$/.test(value))) return key;
  const bytes = '32 bytes in base64 or hexadecimal';
  if (value !== '') return refuse(name, bytes);
  throw new ConfigError(
    `${name} must be set for certificates: ${bytes}. Make one with: openssl rand -base64 32`,
  );
}
