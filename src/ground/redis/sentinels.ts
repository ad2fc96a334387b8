import { connect as connectTcp, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, Redis, type RedisOptions } from 'ioredis';
import { named, type RedisTarget, type ServerAddress } from '../config/servers.js';

const ASK_MS = 300;
/** A master that Sentinel has replaced can still serve this process, behind a cut network. */
const LOOK_EVERY_MS = 1_000;

interface Wanted {
  target: RedisTarget;
  options: RedisOptions;
  /** Prepares each connection. */
  guarded: (redis: Redis) => Redis;
}

/**
 * A connection to the master that the Sentinels name. All are asked at once: before each connection, and each second.
 * The connection leaves a master that was replaced. ioredis asks in turn, believes the first answer, and has no guard for
 * what a Sentinel sends. D-290.
 */
export function masterBySentinels({ target, options, guarded }: Wanted): Redis {
  const sentinels = target.servers.map((server) => ({
    server,
    redis: guarded(
      new Redis({
        ...options,
        ...server,
        ...target.sentinelLogin,
        db: 0,
        commandTimeout: ASK_MS,
        enableOfflineQueue: true,
      }),
    ).on('error', () => {}),
  }));

  /** The newest configuration counts: a Sentinel behind a cut network still has an old one. */
  const findMaster = async (): Promise<ServerAddress> => {
    const answers = await Promise.allSettled(
      sentinels.map(({ redis, server }) =>
        askMaster(redis, target.masterName).catch((error) => {
          throw new Error(`${named(server)}: ${error.message}`);
        }),
      ),
    );
    const known = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    const [newest] = known.sort((one, other) => other.epoch - one.epoch);
    if (newest) return newest;
    const reasons = answers.flatMap((answer) =>
      answer.status === 'rejected' ? [(answer.reason as Error).message] : [],
    );
    throw new Error(`no Sentinel names the master ${target.masterName} (${reasons.join('; ')})`);
  };

  let master: ServerAddress | null = null;
  class ToMaster extends AbstractConnector {
    constructor() {
      super(options.disconnectTimeout ?? 1);
    }

    override async connect() {
      this.connecting = true;
      try {
        const { host, port } = await findMaster();
        if (!this.connecting) throw new Error('Connection is closed.');
        master = { host, port };
        this.stream = target.isTls ? connectTls({ host, port }) : connectTcp(master);
      } catch (error) {
        // A rejection would end the connection for ever. After an error of a socket it tries again.
        this.firstError = error as Error;
        this.stream = new Socket().destroy();
      }
      return this.stream;
    }
  }

  const redis = guarded(
    new Redis({ ...options, ...target.login, db: target.db, Connector: ToMaster as never }),
  );
  const look = async () => {
    if (redis.status !== 'ready') return;
    const wanted = await findMaster().catch(() => null);
    if (wanted && master && named(wanted) !== named(master)) redis.disconnect(true);
  };
  const looks = setInterval(() => void look(), LOOK_EVERY_MS).unref();
  const disconnect = redis.disconnect.bind(redis);
  redis.disconnect = (isAgain = false) => {
    disconnect(isAgain);
    if (isAgain) return;
    clearInterval(looks);
    for (const sentinel of sentinels) sentinel.redis.disconnect();
  };
  return redis;
}

async function askMaster(sentinel: Redis, name: string): Promise<ServerAddress & { epoch: number }> {
  try {
    // The first names a promoted replica as soon as it is the master, the second only seconds later.
    const [address, state] = (await Promise.all([
      sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name),
      sentinel.call('SENTINEL', 'MASTER', name),
    ])) as [unknown, unknown];
    const [host, port] = Array.isArray(address) ? address : [];
    const texts = Array.isArray(state) ? state : [];
    const epoch = Number(texts[texts.indexOf('config-epoch') + 1]);
    const isPort = /^\d{1,5}$/.test(port) && port > 0 && port < 65_536;
    if (typeof host !== 'string' || host === '' || !isPort || !Number.isInteger(epoch)) {
      throw new Error('it answers something else');
    }
    return { host, port: Number(port), epoch };
  } catch (error) {
    // A frozen Sentinel closes no connection.
    if (/timed out/.test((error as Error).message)) sentinel.disconnect(true);
    throw error;
  }
}
