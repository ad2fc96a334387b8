import type { Cluster, ClusterOptions, Redis } from 'ioredis';

const CONNECT_TIMEOUT_MS = 1_000;
const RECONNECT_EVERY_MS = 250;

/** One server, or a cluster of which each subject's keys are on one. */
export type RedisConnection = Redis | Cluster;

/**
 * A connection that fails at once when Redis is away, and comes back by itself. ioredis's own defaults wait for ten
 * seconds for a dead server and for ever for a frozen one. Resolves, connected or not, within a second.
 * `?cluster=true` in the address means that it is of one node of a Redis Cluster.
 */
export async function connectRedis(address: string): Promise<RedisConnection> {
  const url = new URL(address);
  const isCluster = url.searchParams.get('cluster') === 'true';
  url.search = '';
  // Not above: most start without Redis.
  const { Cluster, Redis } = await import('ioredis');
  const redis = isCluster
    ? new Cluster(...clusterAt(url))
    : new Redis(url.href, { ...OPTIONS, retryStrategy: () => RECONNECT_EVERY_MS });
  // Whoever sends a command learns of it there.
  redis.on('error', (fault: Error) => faults.set(redis, fault));
  redis.on('ready', () => faults.delete(redis));
  await redis.connect().catch(() => {});
  return redis;
}

/** Why each connection is not there. */
const faults = new WeakMap<RedisConnection, Error>();

const IN_WORDS: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host could not be looked up',
  ETIMEDOUT: 'does not answer',
  EHOSTUNREACH: 'the host can not be reached',
  ENETUNREACH: 'the network can not be reached',
  ECONNRESET: 'hangs up',
};
/** Messages of ioredis about its own state; the reason of the lost connection is in its last `error` event. */
const OF_IOREDIS = /^(Stream isn't writeable|Connection is closed|Reached the max retries|Failed to refresh)/;

/** Why a command failed, for people: in Redis's own words when it answered. */
export function reasonOf(redis: RedisConnection, failure: Error): string {
  const fault = OF_IOREDIS.test(failure.message) ? faults.get(redis) : failure;
  const { lastNodeError = fault } = (fault ?? {}) as { lastNodeError?: Error };
  const { message, code } = (lastNodeError ?? {}) as NodeJS.ErrnoException;
  if (message === undefined || OF_IOREDIS.test(message)) return 'does not answer';
  return IN_WORDS[code ?? ''] ?? message;
}

const OPTIONS = {
  lazyConnect: true,
  connectTimeout: CONNECT_TIMEOUT_MS,
  // A frozen server does not close its side; waiting for that would keep all requests waiting too.
  disconnectTimeout: 1,
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  // A command may have been run although its answer was lost: never send one twice.
  autoResendUnfulfilledCommands: false,
  // The check is a command without a deadline of its own.
  enableReadyCheck: false,
};

function clusterAt(url: URL): ConstructorParameters<typeof Cluster> {
  const { username, password, protocol, hostname, port } = url;
  const { lazyConnect, enableOfflineQueue: _, enableReadyCheck, ...redisOptions } = OPTIONS;
  const options: ClusterOptions = {
    lazyConnect,
    enableReadyCheck,
    // What is asked while the slots are looked up anew may wait: the limiter's own deadline ends it.
    enableOfflineQueue: true,
    clusterRetryStrategy: () => RECONNECT_EVERY_MS,
    slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
    redisOptions: {
      ...redisOptions,
      ...(username ? { username: decodeURIComponent(username) } : {}),
      ...(password ? { password: decodeURIComponent(password) } : {}),
      ...(protocol === 'rediss:' ? { tls: {} } : {}),
    },
  };
  return [[{ host: hostname, port: Number(port || 6379) }], options];
}

/**
 * Commands sent in this turn of the event loop leave in one write. ioredis's auto-pipelining does the same for twice the
 * processor time. To be called before each command.
 */
export function sendTogether(redis: RedisConnection): void {
  const stream = 'stream' in redis ? redis.stream : null;
  if (!stream || stream.writableCorked > 0) return;
  stream.cork();
  setImmediate(() => stream.uncork());
}
