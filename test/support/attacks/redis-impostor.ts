import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** The answer on Redis's port: Redis itself, the same bytes for everything, a closed connection, or nothing. */
type Answering = 'redis' | Buffer | 'hangs up' | 'silence';

export interface RedisImpostor {
  url: string;
  /** Also affects open connections. */
  set(answering: Answering): void;
  stop(): Promise<void>;
}

/** Starts a port in front of a Redis that can answer in its place. */
export async function startRedisImpostor(redisUrl: string): Promise<RedisImpostor> {
  const clients = new Set<Socket>();
  let answering: Answering = 'redis';
  const say = (client: Socket) => {
    if (answering === 'hangs up') client.destroy();
    else if (answering instanceof Buffer) client.write(answering);
  };
  const listener = createServer((client) => {
    clients.add(client);
    const redis = connect(Number(new URL(redisUrl).port), '127.0.0.1');
    const end = () => {
      clients.delete(client);
      client.destroy();
      redis.destroy();
    };
    for (const socket of [client, redis]) socket.on('error', end).on('close', end);
    client.on('data', (bytes) => (answering === 'redis' ? redis.write(bytes) : say(client)));
    redis.on('data', (bytes) => answering === 'redis' && client.write(bytes));
    say(client);
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as { port: number };
  return {
    url: `redis://127.0.0.1:${port}`,
    set(next) {
      answering = next;
      for (const client of clients) say(client);
    },
    async stop() {
      for (const client of clients) client.destroy();
      await once(listener.close(), 'close');
    },
  };
}
