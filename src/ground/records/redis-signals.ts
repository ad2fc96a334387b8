import { randomUUID } from 'node:crypto';
import { connectRedis, type RedisConnection } from '../redis/redis-connection.js';
import { ProjectSignals, type Signal } from './project-signals.js';
import { SharedTurns } from './shared-turns.js';

const CHANNEL = 'petstore:signals';
const CHECK_EVERY_MS = 250;
const ANSWER_MS = 200;

/** Signals between the processes that share Redis. A process hears those of all projects, once it listens to one. */
export class RedisSignals extends ProjectSignals {
  override completeSinceMs = Number.POSITIVE_INFINITY;
  private readonly origin = randomUUID();
  private sender: Promise<RedisConnection> | null = null;
  private subscriber: Promise<RedisConnection> | null = null;
  /** Redis did not take a signal. Perhaps its readers reach Redis, and do not look at the database. */
  private hasUnsent = false;
  private readonly turns = new SharedTurns(() => this.connection);

  constructor(private readonly url: string) {
    super();
  }

  /** The connection that sends; others may use it too. */
  get connection(): Promise<RedisConnection> {
    this.sender ??= this.connect();
    return this.sender;
  }

  override send(projectId: bigint, signal: Signal): void {
    super.send(projectId, signal);
    void this.publish(`${signal} ${projectId}`);
  }

  override listen(projectId: bigint, listener: (signal: Signal) => void): () => void {
    this.subscriber ??= this.subscribe();
    return super.listen(projectId, listener);
  }

  override turn(projectId: bigint): Promise<() => void> {
    return this.turns.wait(projectId);
  }

  /** Sends what was given before. */
  override async close(): Promise<void> {
    const [sender, subscriber] = await Promise.all([this.sender, this.subscriber]);
    await sender?.ping().catch(() => {});
    sender?.disconnect();
    subscriber?.disconnect();
  }

  private async publish(message: string): Promise<void> {
    try {
      await (await this.connection).publish(CHANNEL, `${this.origin} ${message}`);
    } catch {
      this.hasUnsent = true;
    }
  }

  /** Tells all processes to look, once Redis is back. */
  private async tellUnsent(): Promise<void> {
    if (!this.hasUnsent) return;
    this.hasUnsent = false;
    await this.publish('unsent');
  }

  private async subscribe(): Promise<RedisConnection> {
    const redis = await this.connect(true);
    const begin = async () => {
      await redis.subscribe(CHANNEL);
      this.completeSinceMs = performance.now();
    };
    redis.on('ready', () => begin().catch(() => {}));
    redis.on('close', () => {
      this.completeSinceMs = Number.POSITIVE_INFINITY;
    });
    redis.on('message', (_: string, message: string) => {
      const [origin, signal, projectId] = message.split(' ');
      if (projectId === undefined) this.completeSinceMs = performance.now();
      else if (origin !== this.origin) super.send(BigInt(projectId), signal as Signal);
    });
    if (redis.status === 'ready') await begin().catch(() => {});
    return redis;
  }

  /** A frozen server, or one behind a broken network, closes no connection. */
  private async connect(isSubscriber = false): Promise<RedisConnection> {
    const redis = await connectRedis(this.url, { isSubscriber });
    redis.on('ready', () => void this.tellUnsent());
    const check = async () => {
      if (redis.status !== 'ready') return;
      const late = setTimeout(() => redis.disconnect(true), ANSWER_MS);
      await redis.ping().catch(() => {});
      clearTimeout(late);
    };
    const checks = setInterval(() => void check(), CHECK_EVERY_MS).unref();
    return redis.once('end', () => clearInterval(checks));
  }
}
