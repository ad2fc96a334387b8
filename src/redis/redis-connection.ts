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
  redis.on('error', () => {});
  await redis.connect().catch(() => {});
  return redis;
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
