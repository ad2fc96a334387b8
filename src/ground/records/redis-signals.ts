import { randomUUID } from 'node:crypto';
import { connectRedis, type RedisConnection } from '../redis/redis-connection.js';
import { LocalSignals, type Signal } from './project-signals.js';

const CHANNEL = 'petstore:signals';
const CHECK_EVERY_MS = 250;
const ANSWER_MS = 200;
const MAX_UNSENT = 10_000;

/** Signals between the processes that share Redis. A process hears those of all projects, once it listens to one. */
export class RedisSignals extends LocalSignals {
  override isComplete = false;
  override interruptions = 0;
  private readonly origin = randomUUID();
  private sender: Promise<RedisConnection> | null = null;
  private subscriber: Promise<RedisConnection> | null = null;
  private readonly checks: NodeJS.Timeout[] = [];
  /** Signals that Redis did not take. Perhaps their readers reach Redis, and do not look at the database. */
  private unsent: string[] = [];

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
    void this.publish(`${this.origin} ${projectId} ${signal}`);
  }

  override listen(projectId: bigint, listener: (signal: Signal) => void): () => void {
    this.subscriber ??= this.subscribe();
    return super.listen(projectId, listener);
  }

  /** Sends what was given before. */
  override async close(): Promise<void> {
    for (const check of this.checks) clearInterval(check);
    const [sender, subscriber] = await Promise.all([this.sender, this.subscriber]);
    await sender?.ping().catch(() => {});
    sender?.disconnect();
    subscriber?.disconnect();
  }

  private async publish(message: string): Promise<void> {
    try {
      await (await this.connection).publish(CHANNEL, message);
    } catch {
      if (this.unsent.length < MAX_UNSENT) this.unsent.push(message);
    }
  }

  private sendAgain(): void {
    for (const message of this.unsent.splice(0)) void this.publish(message);
  }

  private async connect(): Promise<RedisConnection> {
    const redis = await connectRedis(this.url);
    redis.on('ready', () => this.sendAgain());
    this.watch(redis);
    return redis;
  }

  private async subscribe(): Promise<RedisConnection> {
    const redis = await connectRedis(this.url, { isSubscriber: true });
    const begin = async () => {
      await redis.subscribe(CHANNEL);
      this.isComplete = true;
    };
    redis.on('ready', () => begin().catch(() => {}));
    redis.on('close', () => {
      this.isComplete = false;
      this.interruptions += 1;
    });
    redis.on('message', (_: string, message: string) => {
      const [origin, projectId = '', signal] = message.split(' ');
      if (origin !== this.origin) super.send(BigInt(projectId), signal as Signal);
    });
    this.watch(redis);
    if (redis.status === 'ready') await begin().catch(() => {});
    return redis;
  }

  /** A frozen server, or one behind a broken network, closes no connection. */
  private watch(redis: RedisConnection): void {
    const check = async () => {
      if (redis.status !== 'ready') return;
      const late = setTimeout(() => redis.disconnect(true), ANSWER_MS);
      await redis.ping().catch(() => {});
      clearTimeout(late);
    };
    this.checks.push(setInterval(() => void check(), CHECK_EVERY_MS).unref());
  }
}
