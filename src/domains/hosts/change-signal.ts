import { setTimeout as sleep } from 'node:timers/promises';
import { connectRedis, type RedisConnection } from '../../ground/redis/redis-connection.js';

const CHANNEL = 'petstore:hosts';
const SEND_MS = 300;

/**
 * Notifies all processes that share a Redis when the served hosts change. Without Redis, or when a message is lost, a
 * process notices the change at its next poll of the database, within a second.
 */
export class ChangeSignal {
  private sender: Promise<RedisConnection> | null = null;
  private receiver: Promise<RedisConnection> | null = null;

  constructor(
    /** Null = there is one process, or the other processes only poll. */
    private readonly redisUrl: string | null,
    /** Called after each change and each reconnection. */
    private readonly onChange: () => Promise<void>,
  ) {}

  /** Subscribes to the changes of other processes, as soon as Redis is reachable. */
  listen(): void {
    if (this.redisUrl !== null) this.receiver ??= this.receive(this.redisUrl);
  }

  /** Resolves when this process has applied the change and the message is sent, or could not be sent in time. */
  async announce(): Promise<void> {
    await Promise.all([this.applyChanges(), this.publishChange()]);
  }

  async close(): Promise<void> {
    (await this.sender)?.disconnect();
    (await this.receiver)?.disconnect();
  }

  private async receive(redisUrl: string): Promise<RedisConnection> {
    const receiver = await connectRedis(redisUrl);
    const subscribe = () => {
      receiver.subscribe(CHANNEL).catch(() => {});
      // Catches up with messages from before the subscription.
      void this.applyChanges();
    };
    receiver.on('message', () => void this.applyChanges());
    receiver.on('ready', subscribe);
    if (receiver.status === 'ready') subscribe();
    return receiver;
  }

  private async publishChange(): Promise<void> {
    if (this.redisUrl === null) return;
    this.sender ??= connectRedis(this.redisUrl);
    const sent = this.sender.then((redis) => redis.publish(CHANNEL, '')).catch(() => {});
    // A frozen Redis never answers. The message is optional, so do not wait for it.
    await Promise.race([sent, sleep(SEND_MS, undefined, { ref: false })]);
  }

  private async applyChanges(): Promise<void> {
    // `HostIndex.current` reports a stale host table, so the error needs no handling here.
    await this.onChange().catch(() => {});
  }
}
