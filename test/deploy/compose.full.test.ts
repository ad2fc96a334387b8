import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { loadConfig } from '../../src/ground/config/config.js';
import { packageRoot } from '../../src/ground/kernel/package.js';
import {
  COMPOSE_FILES,
  type ComposeService,
  composeText,
  neededBy,
  parseCompose,
  readCompose,
} from '../support/gateway/compose.js';
import { checkProxyConfiguration } from '../support/servers/haproxy.js';
import { promtool } from '../support/servers/promtool.js';

const inRoot = (path: string) => join(packageRoot(), path);
const CUSTOM_DOMAINS = {
  HTTPS_PORT: '4443',
  ACME_DIRECTORY_URL: 'https://acme.example/directory',
  SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
};

const PASSWORD = { MYSQL_PASSWORD: 'of-this-test' };

const compose = (env: Record<string, string> = PASSWORD) => readCompose('docker-compose.yml', env);

const gatewayOf = (env?: Record<string, string>) => compose(env).services.gateway as ComposeService;

describe.each<[string, Record<string, string>]>([
  ['without settings', PASSWORD],
  ['with custom domains', { ...PASSWORD, ...CUSTOM_DOMAINS }],
])('%s', (_, env) => {
  test('Compose-1: the gateway accepts its settings, and two processes have the same', () => {
    const gateway = gatewayOf(env);
    expect(gateway.deploy).toEqual({ replicas: 2 });
    expect(gateway.env_file).toEqual([{ path: '.env', required: false }]);
    const ofNpmStart = { HOST: '127.0.0.1', PORT: '8080' };
    const settings = Object.entries({ ...ofNpmStart, ...env, ...gateway.environment }).map(
      ([name, value]) => [name, String(value ?? '')],
    );
    const { host, port, redisUrl, httpsPort, shutdownSeconds, acme } = loadConfig(
      Object.fromEntries(settings),
    );
    expect([host, port]).toEqual(['0.0.0.0', 4000]);
    expect(redisUrl).not.toBeNull();
    expect(httpsPort).toBe(Number(env.HTTPS_PORT ?? 0));
    expect(acme !== null).toBe(env.ACME_DIRECTORY_URL !== undefined);
    // Docker must not kill a process that is still completing requests.
    expect(Number.parseInt(String(gateway.stop_grace_period), 10)).toBeGreaterThan(shutdownSeconds);
  });

  test('Compose-2: HAProxy accepts its file with the variables of the service', async () => {
    const { environment } = compose(env).services.proxy as { environment: Record<string, string> };
    const used = readFileSync(inRoot('deploy/haproxy.cfg'), 'utf8').matchAll(/\$\{(\w+)\}/g);
    expect(new Set([...used].map(([, name]) => name))).toEqual(new Set(Object.keys(environment)));
    expect(environment).toMatchObject({ GATEWAY_HTTP: 'gateway:4000', GATEWAY_HTTPS: 'gateway:4443' });
    await checkProxyConfiguration(environment);
  });
});

test.each(COMPOSE_FILES)('Compose-3: every service, file and volume that is named exists, in %s', (file) => {
  const { services, volumes } = readCompose(file, PASSWORD);
  for (const [name, service] of Object.entries(services)) {
    for (const other of neededBy(service))
      expect([name, Object.keys(services)]).toEqual([name, expect.arrayContaining([other])]);
    for (const volume of service.volumes ?? []) {
      const [source = ''] = volume.split(':');
      expect([volume, source.startsWith('.') ? existsSync(inRoot(source)) : source in volumes]).toEqual([
        volume,
        true,
      ]);
    }
  }
});

test.each(COMPOSE_FILES)(
  'Compose-4: only this machine reaches the ports, and the gateway trusts the network of its proxy alone, in %s',
  (file) => {
    const { services, networks } = readCompose(file, PASSWORD);
    const ports = Object.values(services).flatMap((service) => service.ports ?? []);
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    const subnet = networks.backend?.ipam.config[0]?.subnet;
    const gateways = Object.values(services).filter(({ build }) => build);
    for (const { environment, ports: published, read_only } of gateways) {
      expect(environment?.TRUSTED_PROXIES).toBe(subnet);
      expect(published).toBeUndefined();
      expect(read_only).toBe(true);
    }
    expect(gateways.length).toBeGreaterThan(0);
  },
);

test('Compose-5: Prometheus accepts its file, and reads the metrics port of every replica under the job of the alerts', async () => {
  await promtool('check', 'config', inRoot('deploy/prometheus.yml'));
  const { scrape_configs } = parse(readFileSync(inRoot('deploy/prometheus.yml'), 'utf8'));
  const port = Number(gatewayOf().environment?.METRICS_PORT);
  const dns_sd_configs = [{ names: ['gateway'], type: 'A', port, refresh_interval: '10s' }];
  expect(scrape_configs).toEqual([{ job_name: 'petstore', dns_sd_configs }]);
});

test('Compose-6: Grafana finds the data source and the dashboard', () => {
  const folder = 'deploy/grafana-provisioning';
  const { datasources } = parse(readFileSync(inRoot(`${folder}/datasources/prometheus.yml`), 'utf8'));
  expect(datasources).toEqual([
    expect.objectContaining({ type: 'prometheus', url: 'http://prometheus:9090' }),
  ]);
  const { providers } = parse(readFileSync(inRoot(`${folder}/dashboards/petstore-gateway.yml`), 'utf8'));
  const mounted = compose().services.grafana?.volumes?.find((volume) =>
    volume.includes('grafana-dashboard.json'),
  );
  expect(mounted).toContain(`:${providers[0].options.path}/`);
});

test('Compose-7: MySQL 8.4 has the user and the database of the gateway, and is healthy before the gateway starts', () => {
  const { mysql } = compose().services;
  expect(mysql?.image).toBe('mysql:8.4');
  const { MYSQL_USER, MYSQL_PASSWORD, MYSQL_DATABASE } = mysql?.environment ?? {};
  const { environment, depends_on } = gatewayOf();
  expect(MYSQL_PASSWORD).toBe(PASSWORD.MYSQL_PASSWORD);
  expect(environment?.DATABASE_URL).toBe(
    `mysql://${MYSQL_USER}:${MYSQL_PASSWORD}@mysql:3306/${MYSQL_DATABASE}`,
  );
  expect(depends_on).toMatchObject({ mysql: { condition: 'service_healthy' } });
});

test('Compose-8: the file has no password; without one it names the example, and the example has none either', () => {
  const text = composeText('docker-compose.yml');
  const { services } = parseCompose(text);
  const settings = Object.values(services).flatMap(({ environment }) => Object.entries(environment ?? {}));
  const secrets = settings.filter(([name, value]) => name.endsWith('PASSWORD') || /:\/\/[^/]+@/.test(value));
  expect(secrets.map(([name]) => name)).toEqual([
    'DATABASE_URL',
    'MYSQL_PASSWORD',
    'MYSQL_RANDOM_ROOT_PASSWORD',
  ]);
  expect(secrets.slice(0, 2).filter(([, value]) => !value.includes('${MYSQL_PASSWORD:?'))).toEqual([]);
  expect(() => compose({})).toThrow('MYSQL_PASSWORD see .env.example');
  const example = readFileSync(inRoot('.env.example'), 'utf8');
  for (const [, name] of text.matchAll(/\$\{(\w+)/g)) expect(example).toMatch(new RegExp(`^#?${name}=`, 'm'));
  expect(example).toMatch(/^MYSQL_PASSWORD=$/m);
  expect(readFileSync(inRoot('.gitignore'), 'utf8').split('\n')).toContain('.env');
});
