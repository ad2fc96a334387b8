import { Redis } from 'ioredis';

const CONNECT_TIMEOUT_MS = 1_000;
const RECONNECT_EVERY_MS = 250;

/**
 * A connection that fails at once when Redis is away, and comes back by itself. ioredis's own defaults wait for ten
 * seconds for a dead server and for ever for a frozen one. Resolves, connected or not, within a second.
 */
export async function connectRedis(url: string): Promise<Redis> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: () => RECONNECT_EVERY_MS,
    // A frozen server does not close its side; waiting for that would keep all requests waiting too.
    disconnectTimeout: 1,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    // A command may have been run although its answer was lost: never send one twice.
    autoResendUnfulfilledCommands: false,
    // The check is a command without a deadline of its own.
    enableReadyCheck: false,
  });
  // Whoever sends a command learns of it there.
  redis.on('error', () => {});
  await redis.connect().catch(() => {});
  return redis;
}

/**
 * Commands sent in this turn of the event loop leave in one write. ioredis's auto-pipelining does the same for twice the
 * processor time. To be called before each command.
 */
export function sendTogether({ stream }: Redis): void {
  if (!stream || stream.writableCorked > 0) return;
  stream.cork();
  setImmediate(() => stream.uncork());
}
