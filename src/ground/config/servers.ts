import { parseUrl } from '../kernel/networks.js';

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** `10.0.0.1:6379`; IPv6 in brackets. */
export const named = ({ host, port }: ServerAddress) => `${host.includes(':') ? `[${host}]` : host}:${port}`;

interface ServersUrl {
  servers: readonly ServerAddress[];
  /** Its host is the first server. */
  url: URL;
}

/** A URL whose host may be a list: `scheme://user:password@a:1,b,[::1]:3/path?query`. Null = not such a URL. */
export function parseServers(value: string, defaultPort: number): ServersUrl | null {
  const [, before, list = '', after] = /^([a-z+]+:\/\/(?:[^/?#]*@)?)([^@/?#]+)(.*)$/i.exec(value) ?? [];
  const servers = list.split(',').map((entry) => serverAddress(entry.trim(), defaultPort));
  const [first] = servers;
  const url = first ? parseUrl(`${before}${named(first)}${after}`) : null;
  return url && servers.every((server) => server !== null) ? { servers, url } : null;
}

function serverAddress(entry: string, defaultPort: number): ServerAddress | null {
  const url = parseUrl(`any://${entry}`);
  if (!url?.hostname || url.username || url.password || url.port === '0') return null;
  try {
    const host = decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1');
    return { host, port: Number(url.port || defaultPort) };
  } catch {
    return null;
  }
}

interface Login {
  readonly username?: string;
  readonly password?: string;
}

/** The user and the password of a URL, without the escapes. Throws `URIError`. */
function loginOf({ username, password }: { username: string; password: string }): Login {
  return {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
  };
}

export interface RedisTarget {
  mode: 'server' | 'cluster' | 'sentinel';
  /** With Sentinel its processes, which know the master. */
  servers: readonly ServerAddress[];
  login: Login;
  isTls: boolean;
  db: number;
  /** With Sentinel. */
  masterName: string;
  sentinelLogin: Login;
}

export const REDIS_FORMS =
  'redis://user:password@host:6379 (rediss://… for TLS), redis://a:6379,b:6379?cluster=true, or redis+sentinel://a:26379,b:26379/master';

/** Null = none of `REDIS_FORMS`. The form with Sentinel is that of redis-sentinel-url and Harbor. */
export function redisTarget(value: string): RedisTarget | null {
  const [, tls, sentinel] = /^redis(s?)(\+sentinel)?:\/\//i.exec(value) ?? [];
  const parsed = parseServers(value, sentinel ? 26_379 : 6_379);
  if (tls === undefined || !parsed) return null;
  const { servers, url } = parsed;
  const isCluster = url.searchParams.get('cluster') === 'true';
  const [masterName = '', db = '0'] = url.pathname.split('/').slice(sentinel ? 1 : 0);
  const isWhole = sentinel ? masterName !== '' && !isCluster : isCluster || servers.length === 1;
  if (!isWhole || !/^\d{0,5}$/.test(db)) return null;
  const param = (name: string) => url.searchParams.get(name) ?? '';
  try {
    return {
      mode: sentinel ? 'sentinel' : isCluster ? 'cluster' : 'server',
      servers,
      login: loginOf(url),
      isTls: tls !== '',
      db: Number(db),
      masterName: decodeURIComponent(masterName),
      sentinelLogin: { username: param('sentinel_username'), password: param('sentinel_password') },
    };
  } catch {
    return null;
  }
}
