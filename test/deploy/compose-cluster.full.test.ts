import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadConfig } from '../../src/ground/config/config.js';
import { packageRoot } from '../../src/ground/kernel/package.js';
import { eventually } from '../support/eventually.js';
import { type ComposeService, composeText, neededBy, readCompose } from '../support/gateway/compose.js';
import { type GaleraNode, NEW_CLUSTER, startGalera } from '../support/servers/clusters/galera.js';
import { Daemon, freePort } from '../support/servers/daemon.js';
import { checkProxyConfiguration } from '../support/servers/haproxy.js';
import { MASTER, order, portOf, redisProgram, startRedis } from '../support/servers/redis.js';

const PASSWORD = { MYSQL_PASSWORD: 'of-this-test' };
const { services } = readCompose('docker-compose.cluster.yml', PASSWORD);
const service = (name: string) => services[name] as ComposeService;
const NODES = ['galera-1', 'galera-2', 'galera-3'];
const SENTINELS = ['sentinel-1', 'sentinel-2', 'sentinel-3'];
/** The settings in which both files differ. */
const ADDRESSES = ['DATABASE_URL', 'REDIS_URL', 'TRUSTED_PROXIES'];
/** Options of a node for a place that the test replaces. */
const OF_PLACE = /^wsrep-(provider|cluster|sst)/;

test('Compose-9: each gateway is that of docker-compose.yml at its own node, finds Redis by all Sentinels, and is found by the proxy', async () => {
  const plain = readCompose('docker-compose.yml', PASSWORD).services;
  const { depends_on: _, deploy, networks: __, environment: common, ...settings } = plain.gateway ?? {};
  const names = Object.keys(services).filter((name) => service(name).build);
  expect(names).toHaveLength(NODES.length);
  expect(() => readCompose('docker-compose.cluster.yml', {})).toThrow('MYSQL_PASSWORD see .env.example');
  for (const [at, name] of names.entries()) {
    const node = NODES[at] as string;
    const { depends_on, networks, environment = {}, ...rest } = service(name);
    expect(rest).toEqual(settings);
    expect(networks).toEqual({ backend: { aliases: ['gateway'] } });
    expect(depends_on).toEqual({ [node]: { condition: 'service_healthy' } });
    expect(others(environment)).toEqual(others(common ?? {}));
    const { database, redisUrl } = loadConfig(
      Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, String(value)])),
    );
    expect(database).toMatchObject({ kind: 'mariadb', consistency: 'strict' });
    const { MARIADB_USER, MARIADB_PASSWORD, MARIADB_DATABASE } = service(node).environment ?? {};
    const login = `${MARIADB_USER}:${MARIADB_PASSWORD}`;
    expect(environment.DATABASE_URL).toBe(`mariadb://${login}@${node}:3306/${MARIADB_DATABASE}`);
    expect(redisUrl).toBe(`redis+sentinel://${SENTINELS}/${MASTER}`);
  }
  expect(service('proxy')).toEqual({ ...plain.proxy, depends_on: names });
  await checkProxyConfiguration(service('proxy').environment ?? {});
});

test('Compose-10: real nodes start with its options; after a stop in its order galera-1 begins again with all data, and after a kill that is refused', async () => {
  const options = galeraOptions();
  expect(options['wsrep-cluster-address']).toBe(`gcomm://${NODES}`);
  const ofNode = (name: string) => `--wsrep-node-address=${name} --wsrep-node-incoming-address=${name}:3306`;
  for (const name of NODES) expect(String(service(name).command).trim()).toBe(ofNode(name));
  // Compose stops a service before those that it needs.
  expect(NODES.map((name) => neededBy(service(name)))).toEqual([[], ['galera-1'], ['galera-1']]);
  expect(composeText('docker-compose.cluster.yml')).toContain(`GALERA_1=${NEW_CLUSTER} docker compose`);
  const first = readCompose('docker-compose.cluster.yml', { ...PASSWORD, GALERA_1: NEW_CLUSTER });
  expect(first.services['galera-1']?.command).toBe(`${ofNode('galera-1')} ${NEW_CLUSTER}`);

  const given = Object.entries(options).filter(([key]) => !OF_PLACE.test(key));
  const { nodes, stop } = await startGalera({ args: given.map(([key, value]) => `--${key}=${value}`) });
  try {
    const [one, two, three] = nodes as [GaleraNode, GaleraNode, GaleraNode];
    for (const [key, value] of given) {
      const [row] = await three.query(`SELECT @@${key.replaceAll('-', '_')} AS value`);
      expect([key, String(row?.value)]).toEqual([key, value === 'ON' ? '1' : value]);
    }
    await three.query('CREATE DATABASE petstore');
    await three.query('CREATE TABLE petstore.kept (id INT PRIMARY KEY)');
    await three.query('INSERT INTO petstore.kept VALUES (1)');
    for (const each of [three, two, one]) await each.kill('SIGTERM');
    await one.start([NEW_CLUSTER]);
    await Promise.all([two.start(), three.start()]);
    expect(await three.query('SELECT id FROM petstore.kept')).toEqual([{ id: 1 }]);
    await one.kill('SIGKILL');
    await expect(one.start([NEW_CLUSTER])).rejects.toThrow(/safe_to_bootstrap/);
    await one.start();
    expect(await one.query('SELECT id FROM petstore.kept')).toEqual([{ id: 1 }]);
  } finally {
    await stop();
  }
});

test('Compose-11: its Sentinel starts with its own file, names the servers as the gateways find them, and keeps what it has learned', async () => {
  const first = await startRedis();
  // The same options, at the addresses of this machine.
  const here = (text: string) =>
    text.replaceAll(/redis-[12]/g, 'localhost').replaceAll('6379', portOf(first.url));
  const args = here(String(service('redis-2').command)).split(' ');
  const replica = await startRedis({ args: args.slice(args.indexOf('--maxmemory')) });
  const home = await mkdtemp(join(tmpdir(), 'petstore-compose-'));
  const { file, args: before } = await redisProgram();
  await writeFile(join(home, 'redis-server'), `#!/bin/sh\nexec ${[file, ...before].join(' ')} "$@"\n`);
  await chmod(join(home, 'redis-server'), 0o755);
  const [shell = '', option = '', script = ''] = service('sentinel-2').command as string[];
  const port = await freePort();
  const start = () =>
    new Daemon({
      program: { file: '/usr/bin/env', args: ['-C', home, `PATH=${home}:${process.env.PATH}`] },
      args: [shell, option, here(script).replace('--sentinel', `--sentinel --port ${port}`)],
      home,
      logFile: join(home, 'log'),
    });
  const ask = (...asked: string[]) => order(`redis://127.0.0.1:${port}`, 'SENTINEL', ...asked);
  let sentinel = start();
  try {
    await eventually('it knows the replica', async () => {
      const [found = []] = (await ask('REPLICAS', MASTER).catch(() => [])) as string[][];
      return found[found.indexOf('ip') + 1] === 'localhost';
    });
    expect(await ask('GET-MASTER-ADDR-BY-NAME', MASTER)).toEqual(['localhost', portOf(first.url)]);
    const id = await ask('MYID');
    await sentinel.kill('SIGKILL');
    sentinel = start();
    await eventually('it answers', () =>
      ask('MYID').then(
        () => true,
        () => false,
      ),
    );
    expect(await ask('MYID')).toBe(id);
  } finally {
    await sentinel.kill('SIGKILL');
    await Promise.all([first.stop(), replica.stop()]);
    await rm(home, { recursive: true, force: true });
  }
});

function others(environment: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).filter(([key]) => !ADDRESSES.includes(key)));
}

/** Of `deploy/galera.cnf`. */
function galeraOptions(): Record<string, string> {
  const text = readFileSync(join(packageRoot(), 'deploy/galera.cnf'), 'utf8');
  return Object.fromEntries([...text.matchAll(/^([a-z-]+) = (.*)$/gm)].map(([, key, value]) => [key, value]));
}
