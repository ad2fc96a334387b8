import { parseUrl } from '../kernel/url.js';
import { ConfigError, readAll } from './config-error.js';
import { list } from './values.js';

// These values hold passwords and keys: no message and no log repeats them.

export function redisUrl(name: string, value: string | null): string | null {
  const url = value === null ? null : parseUrl(value);
  if (value === null || (url?.hostname && /^rediss?:$/.test(url.protocol))) return value;
  throw new ConfigError(`${name} must be redis://host:6379 or rediss://user:password@host:6379.`);
}

export type DatabaseTarget =
  | { kind: 'sqlite'; path: string }
  | { kind: 'mysql' | 'mariadb'; url: string; tls: boolean };

/** Whether the database is in memory: it ends with its connection, and no other process can reach it. */
export function isInMemory(target: DatabaseTarget): boolean {
  return target.kind === 'sqlite' && target.path === ':memory:';
}

export function databaseTarget(name: string, value: string): DatabaseTarget {
  const shouldBe = 'mysql://user:password@host:3306/database, mariadb://…, sqlite:path or sqlite::memory:';
  const sqlite = /^sqlite:(?!\/\/)(.+)$/.exec(value);
  if (sqlite?.[1]) return { kind: 'sqlite', path: sqlite[1] };

  const url = parseUrl(value);
  const kind = url?.protocol === 'mysql:' ? 'mysql' : url?.protocol === 'mariadb:' ? 'mariadb' : null;
  if (!url?.hostname || !kind || !/^\/[^/]+$/.test(url.pathname)) {
    throw new ConfigError(`${name} must be ${shouldBe}.`);
  }
  const tls = ['1', 'true'].includes(url.searchParams.get('ssl') ?? '');
  url.search = '';
  return { kind, url: url.href, tls };
}

const SECRET_KEY_FORM = '32 bytes in base64 or hexadecimal';

/** The keys for sealed private keys: the first one seals, each one can open. */
export function secretKeysOf(
  current: string | null,
  previous: string | null,
  { isNeeded }: { isNeeded: boolean },
): Buffer[] {
  if (current === null && isNeeded) {
    throw new ConfigError(
      `SECRET_KEY must be set for certificates: ${SECRET_KEY_FORM}. Make one with: openssl rand -base64 32`,
    );
  }
  if (current === null && previous !== null) {
    throw new ConfigError('SECRET_KEY must be set when SECRET_KEY_PREVIOUS is.');
  }
  const { sealing, opening } = readAll<{ sealing: Buffer[]; opening: Buffer[] }>({
    sealing: () => (current === null ? [] : [secretKey('SECRET_KEY', current)]),
    opening: () => list(previous).map((value) => secretKey('SECRET_KEY_PREVIOUS', value)),
  });
  return [...sealing, ...opening];
}

function secretKey(name: string, value: string): Buffer {
  const isHex = /^[0-9a-f]{64}$/i.test(value);
  const key = Buffer.from(value, isHex ? 'hex' : 'base64');
  if (key.length === 32 && (isHex || /^[A-Za-z0-9+/_-]{43}=?$/.test(value))) return key;
  throw new ConfigError(`${name} must be ${SECRET_KEY_FORM}.`);
}
