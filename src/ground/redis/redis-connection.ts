import type { Cluster, ClusterOptions, Redis } from 'ioredis';

const CONNECT_TIMEOUT_MS = 1_000;
const RECONNECT_EVERY_MS = 250;

/** A single server, or a cluster that keeps all keys of a subject on one node. */
export type RedisConnection = Redis | Cluster;

/**
 * A connection whose commands fail at once while Redis is unavailable, and that reconnects automatically. By default,
 * ioredis waits ten seconds for a dead server and forever for a frozen one. Resolves within a second, connected or not.
 * `?cluster=true` in the address = a node of a Redis Cluster. A subscriber receives messages without asking for each.
 */
export async function connectRedis(address: string, { isSubscriber = false } = {}): Promise<RedisConnection> {
  const url = new URL(address);
  const isCluster = url.searchParams.get('cluster') === 'true';
  url.search = '';
  // Imported here, because most gateways run without Redis. D-49.
  const { Cluster, Redis } = await import('ioredis');
  const redis = isCluster
    ? new Cluster(...clusterAt(url))
    : guarded(new Redis(url.href, { ...OPTIONS, retryStrategy: () => RECONNECT_EVERY_MS }), isSubscriber);
  if (isCluster) redis.on('+node', (node: Redis) => guarded(node, isSubscriber));
  // The error reaches the callers through their failed commands.
  redis.on('error', (fault: Error) => faults.set(redis, fault));
  redis.on('ready', () => faults.delete(redis));
  await redis.connect().catch(() => {});
  return redis;
}

/** Our replies are shorter than their commands, except a cluster's slot map and messages from other processes. */
const MAX_UNASKED_BYTES = 1024 * 1024;

/**
 * The same connection, which closes and reconnects when it receives data that is not a Redis reply. Unguarded, the parser
 * of ioredis throws in a socket event, which would end the process. It also buffers a long reply without a bound.
 */
function guarded(redis: Redis, isSubscriber: boolean): Redis {
  redis.on('connect', () => {
    const { stream } = redis;
    const [parse] = stream.listeners('data') as ((bytes: Buffer) => void)[];
    if (!parse) return;
    stream.removeListener('data', parse);
    stream.prependListener('data', (bytes: Buffer) => {
      try {
        parse(bytes);
      } catch (fault) {
        stream.destroy(fault as Error);
      }
      if (!isSubscriber && stream.bytesRead > stream.bytesWritten + MAX_UNASKED_BYTES) {
        stream.destroy(new Error('sends more than it was asked for'));
      }
    });
  });
  return redis;
}

/** The last error of each lost connection. */
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
/** Messages of ioredis about its own state. The reason for the lost connection is in its last `error` event. */
const OF_IOREDIS = /^(Stream isn't writeable|Connection is closed|Reached the max retries|Failed to refresh)/;

/** The reason for a failed command, for people: Redis's own message if it answered. */
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
  // A frozen server never closes its side, and all requests would wait for it.
  disconnectTimeout: 1,
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  // A command may have run although its answer was lost, so never resend it.
  autoResendUnfulfilledCommands: false,
  // Both checks are commands without a timeout, and without their answers the connection is never used.
  enableReadyCheck: false,
  disableClientInfo: true,
  // ioredis has no error listener for this command: a lost answer would end the process.
  autoResubscribe: false,
};

function clusterAt(url: URL): ConstructorParameters<typeof Cluster> {
  const { username, password, protocol, hostname, port } = url;
  const { lazyConnect, enableOfflineQueue: _, enableReadyCheck, ...redisOptions } = OPTIONS;
  const options: ClusterOptions = {
    lazyConnect,
    enableReadyCheck,
    // Commands during a refresh of the slots may wait: the limiter's own deadline ends them.
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
 * Sends all commands of this event-loop iteration in one write. ioredis's auto-pipelining does the same for twice the
 * processor time. Call it before each command.
 */
export function sendTogether(redis: RedisConnection): void {
  const stream = 'stream' in redis ? redis.stream : null;
  if (!stream || stream.writableCorked > 0) return;
  stream.cork();
  setImmediate(() => stream.uncork());
}
