import { expect, test } from '@jest/globals';
import { createTestDatabase, sharedDatabase } from '../support/databases.js';
import { startDnsServer } from '../support/dns/dns-server.js';
import { eventually } from '../support/eventually.js';
import { ready, spawnGateway } from '../support/gateway-process.js';
import { freePort } from '../support/servers/daemon.js';
import { startProxy } from '../support/servers/haproxy.js';
import { startRedis } from '../support/servers/redis.js';

const NAME = 'gateway.petstore.test';
const ADDRESSES = ['127.0.0.2', '127.0.0.3', '127.0.0.4'];

// As `docker compose up --scale gateway=3`: one name, whose addresses are those of the replicas.
test('Deploy-2: three replicas start at once on an empty database, and the proxy finds them by one name as they come and go', async () => {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const database = await createTestDatabase(sharedDatabase());
    stops.push(() => database.remove());
    const redis = await startRedis();
    stops.push(() => redis.stop());
    const dns = await startDnsServer();
    stops.push(() => dns.stop());
    const port = await freePort();
    const replicas = ADDRESSES.map((host) => {
      const env = { HOST: host, PORT: String(port), DATABASE_URL: database.url, REDIS_URL: redis.url };
      return spawnGateway({ env: { ...env, DEMO: '1', LOG_LEVEL: 'info', SHUTDOWN_SECONDS: '2' } });
    });
    stops.push(() => Promise.all(replicas.map((replica) => replica.kill('SIGKILL'))));
    // The proxy starts before the replicas have addresses.
    const proxy = await startProxy({ name: NAME, port, dnsServer: dns.hostPort });
    stops.push(() => proxy.stop());
    await Promise.all(replicas.map(ready));
    expect(replicas.filter((replica) => replica.output().includes('pk_'))).toHaveLength(1);

    /** The replicas that answered 12 requests at this path, one after the other. Each logs its own: lines come late. */
    const reached = async (path: string) => {
      let answers = 0;
      for (let sent = 0; sent < 12; sent += 1) {
        if ((await fetch(`${proxy.url}${path}`)).status === 404) answers += 1;
      }
      const logged = () => replicas.map((replica) => replica.output().split(path).length - 1);
      await eventually(`${answers} logged`, () => logged().reduce((sum, lines) => sum + lines) >= answers);
      return logged().map((lines) => lines > 0);
    };
    let asked = 0;
    const settles = (expected: boolean[]) =>
      eventually(`reached: ${expected}`, async () => {
        asked += 1;
        return JSON.stringify(await reached(`/asked-${asked}-times`)) === JSON.stringify(expected);
      });
    dns.set(NAME, 'A', ADDRESSES.slice(0, 2));
    await settles([true, true, false]);
    dns.set(NAME, 'A', ADDRESSES);
    await settles([true, true, true]);
    dns.set(NAME, 'A', ADDRESSES.slice(1));
    await settles([false, true, true]);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}, 120_000);
