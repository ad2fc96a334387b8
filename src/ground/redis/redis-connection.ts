import type { Cluster, Redis } from 'ioredis';
import { named, REDIS_FORMS, type RedisTarget, redisTarget } from '../config/servers.js';

const CONNECT_TIMEOUT_MS = 1_000;
const RECONNECT_EVERY_MS = 250;

/** A single server, or a cluster that keeps all keys of a subject on one node. */
export type RedisConnection = Redis | Cluster;

/**
 * A connection whose commands fail at once while Redis is unavailable, and that reconnects automatically. By default,
 * ioredis waits ten seconds for a dead server and forever for a frozen one. Resolves within 1.5 s, connected or not. It
 * leaves a server that has become a replica. A subscriber receives messages without asking for each. Throws `TypeError`
 * when the address is none of `REDIS_FORMS`.
 */
export async function connectRedis(address: string, { isSubscriber = false } = {}): Promise<RedisConnection> {
  const target = redisTarget(address);
  if (target === null) throw new TypeError(`not ${REDIS_FORMS}`);
  const redis = await (target.mode === 'cluster'
    ? cluster(target, isSubscriber)
    : single(target, isSubscriber));
  // The error reaches the callers through their failed commands.
  redis.on('error', (fault: Error) => faults.set(redis, fault));
  redis.on('ready', () => faults.delete(redis));
  await redis.connect().catch(() => {});
  return redis;
}

// The client is imported here, because most gateways run without Redis. D-49.
async function single(target: RedisTarget, isSubscriber: boolean): Promise<Redis> {
  const options = optionsOf(target);
  if (target.mode === 'sentinel') {
    const { masterBySentinels } = await import('./sentinels.js');
    return masterBySentinels({ target, options, guarded: (redis) => guarded(redis, isSubscriber) });
  }
  const { Redis } = await import('ioredis');
  return guarded(
    new Redis({ ...options, ...target.login, ...target.servers[0], db: target.db }),
    isSubscriber,
  );
}

async function cluster(target: RedisTarget, isSubscriber: boolean): Promise<Cluster> {
  const { Cluster } = await import('ioredis');
  const {
    lazyConnect,
    enableOfflineQueue: _,
    retryStrategy: __,
    enableReadyCheck,
    ...options
  } = optionsOf(target);
  const redis = new Cluster([...target.servers], {
    lazyConnect,
    enableReadyCheck,
    // Commands during a refresh of the slots may wait: the limiter's own deadline ends them.
    enableOfflineQueue: true,
    clusterRetryStrategy: () => RECONNECT_EVERY_MS,
    slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
    redisOptions: { ...options, ...target.login },
  });
  redis.on('+node', (node: Redis) => guarded(node, isSubscriber));
  // ioredis makes this connection apart from the nodes, and announces it nowhere.
  const { subscriber } = redis as unknown as {
    subscriber: { selectSubscriber(): void; getInstance(): Redis | null };
  };
  const select = subscriber.selectSubscriber.bind(subscriber);
  subscriber.selectSubscriber = () => {
    select();
    const selected = subscriber.getInstance();
    if (selected) guarded(selected, true);
  };
  return redis;
}

/** Where the connection leads, for people: `127.0.0.1:6379`, or the master that Sentinel names. */
export function placeOf(address: string, redis: RedisConnection | null = null): string {
  const { mode, servers, masterName } = redisTarget(address) as RedisTarget;
  const list = servers.map(named).join(', ');
  if (mode === 'server') return list;
  if (mode === 'cluster') return `the cluster of ${list}`;
  const { remoteAddress: host, remotePort: port } = (redis && 'stream' in redis && redis.stream) || {};
  const master = host !== undefined && port !== undefined ? ` at ${named({ host, port })}` : '';
  return `the master ${masterName}${master}, by Sentinel`;
}

/** Our replies are shorter than their commands, except a cluster's slot map and messages from other processes. */
const MAX_UNASKED_BYTES = 1024 * 1024;

/**
 * The same connection, which closes and reconnects when it receives data that is not a Redis reply. Unguarded, the parser
 * of ioredis throws in a socket event, which would end the process. It also buffers a long reply without a bound.
 */
function guarded(redis: Redis, isSubscriber: boolean): Redis {
  // A cluster asks for its slots on a copy of a node's connection.
  const duplicate = redis.duplicate.bind(redis);
  redis.duplicate = (options) => guarded(duplicate(options), isSubscriber);
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

/** Of every connection, also to a Sentinel. */
const optionsOf = ({ isTls }: RedisTarget) => ({
  lazyConnect: true,
  connectTimeout: CONNECT_TIMEOUT_MS,
  // A frozen server never closes its side, and all requests would wait for it.
  disconnectTimeout: 1,
  maxRetriesPerRequest: 0,
  retryStrategy: () => RECONNECT_EVERY_MS,
  // It is a replica: the address, or Sentinel, leads to its new master.
  reconnectOnError: ({ message }: Error) => message.includes('READONLY'),
  enableOfflineQueue: false,
  // A command may have run although its answer was lost, so never resend it.
  autoResendUnfulfilledCommands: false,
  // Both checks are commands without a timeout, and without their answers the connection is never used.
  enableReadyCheck: false,
  disableClientInfo: true,
  // ioredis has no error listener for this command: a lost answer would end the process.
  autoResubscribe: false,
  ...(isTls && { tls: {} }),
});

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
