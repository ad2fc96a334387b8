import { setTimeout as sleep } from 'node:timers/promises';
import { connectRedis, type RedisConnection } from '../redis/redis-connection.js';

const CHANNEL = 'petstore:hosts';
const SEND_MS = 300;

/**
 * Tells the processes that share a Redis at once that serving has changed. Without it, and whatever is lost, they find out
 * when they next ask the database, within a second.
 */
export class ChangeSignal {
  private sender: Promise<RedisConnection> | null = null;
  private receiver: Promise<RedisConnection> | null = null;

  constructor(
    /** Null = this process is alone, or the others look by themselves. */
    private readonly redisUrl: string | null,
    /** What this process does about a change. */
    private readonly onChange: () => Promise<void>,
  ) {}

  /** Listens for the changes of others, from whenever Redis is there. */
  listen(): void {
    if (this.redisUrl !== null) this.receiver ??= this.receive(this.redisUrl);
  }

  /** Resolves when this process knows of the change, and the others are told where there is a way to. */
  async announce(): Promise<void> {
    await Promise.all([this.look(), this.send()]);
  }

  async close(): Promise<void> {
    (await this.sender)?.disconnect();
    (await this.receiver)?.disconnect();
  }

  private async receive(redisUrl: string): Promise<RedisConnection> {
    const receiver = await connectRedis(redisUrl);
    const subscribe = () => {
      receiver.subscribe(CHANNEL).catch(() => {});
      // What was said while nobody listened.
      void this.look();
    };
    receiver.on('message', () => void this.look());
    receiver.on('ready', subscribe);
    if (receiver.status === 'ready') subscribe();
    return receiver;
  }

  private async send(): Promise<void> {
    if (this.redisUrl === null) return;
    this.sender ??= connectRedis(this.redisUrl);
    const sent = this.sender.then((redis) => redis.publish(CHANNEL, '')).catch(() => {});
    // A Redis that is frozen answers nothing, and nobody depends on it.
    await Promise.race([sent, sleep(SEND_MS, undefined, { ref: false })]);
  }

  private async look(): Promise<void> {
    // Whoever serves by what is known finds out by itself that it is too old.
    await this.onChange().catch(() => {});
  }
}
