import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.js';
import { packageRoot } from '../../src/kernel/package-root.js';
import { checkProxyConfiguration } from '../support/servers/haproxy.js';
import { promtool } from '../support/servers/promtool.js';

interface Service {
  image?: string;
  build?: string;
  env_file?: { path: string; required: boolean }[];
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  read_only?: boolean;
  stop_grace_period?: string;
  depends_on?: Record<string, unknown> | string[];
}

const inRoot = (path: string) => join(packageRoot(), path);
const CUSTOM_DOMAINS = {
  HTTPS_PORT: '4443',
  ACME_DIRECTORY_URL: 'https://acme.example/directory',
  SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
};

/** The file with the values of `.env`, as `docker compose` reads it. */
function compose(env: Record<string, string> = {}): {
  services: Record<string, Service>;
  networks: Record<string, { ipam: { config: { subnet: string }[] } }>;
  volumes: Record<string, unknown>;
} {
  const text = readFileSync(inRoot('docker-compose.yml'), 'utf8');
  const filled = text.replaceAll(/\$\{(\w+):-([^}]*)\}/g, (_, name, fallback) => env[name] || fallback);
  return parse(filled, { merge: true });
}

const gatewaysOf = (env?: Record<string, string>) =>
  Object.entries(compose(env).services).filter(([name]) => name.startsWith('gateway-'));

describe.each<[string, Record<string, string>]>([
  ['without settings', {}],
  ['with custom domains', CUSTOM_DOMAINS],
])('%s', (_, env) => {
  test('Compose-1: the gateway accepts its settings, and two processes have the same', () => {
    const [a, b, ...others] = gatewaysOf(env);
    expect(others).toEqual([]);
    expect(a?.[1]).toEqual(b?.[1]);
    expect(a?.[1].env_file).toEqual([{ path: '.env', required: false }]);
    const settings = Object.entries({ ...env, ...a?.[1].environment }).map(([name, value]) => [
      name,
      String(value ?? ''),
    ]);
    const { redisUrl, httpsPort, shutdownSeconds, acme } = loadConfig(Object.fromEntries(settings));
    expect(redisUrl).not.toBeNull();
    expect(httpsPort).toBe(Number(env.HTTPS_PORT ?? 0));
    expect(acme !== null).toBe(env.ACME_DIRECTORY_URL !== undefined);
    // Docker must not kill a process that is still completing requests.
    expect(Number.parseInt(String(a?.[1].stop_grace_period), 10)).toBeGreaterThan(shutdownSeconds);
  });

  test('Compose-2: HAProxy accepts its file with the variables of the service', async () => {
    const { environment } = compose(env).services.proxy as { environment: Record<string, string> };
    const used = readFileSync(inRoot('deploy/haproxy.cfg'), 'utf8').matchAll(/\$\{(\w+)\}/g);
    expect(new Set([...used].map(([, name]) => name))).toEqual(new Set(Object.keys(environment)));
    expect(environment.GATEWAY_A_HTTPS).toBe('gateway-a:4443');
    await checkProxyConfiguration(environment);
  });
});

test('Compose-3: every service, file and volume that is named exists', () => {
  const { services, volumes } = compose();
  for (const [name, service] of Object.entries(services)) {
    const needed = Array.isArray(service.depends_on)
      ? service.depends_on
      : Object.keys(service.depends_on ?? {});
    for (const other of needed)
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

test('Compose-4: only this machine reaches the ports, and the gateway trusts the network of its proxy alone', () => {
  const { services, networks } = compose();
  const ports = Object.values(services).flatMap((service) => service.ports ?? []);
  expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  const subnet = networks.backend?.ipam.config[0]?.subnet;
  for (const [, { environment, ports: published, read_only }] of gatewaysOf()) {
    expect(environment?.TRUSTED_PROXIES).toBe(subnet);
    expect(published).toBeUndefined();
    expect(read_only).toBe(true);
  }
});

test('Compose-5: Prometheus accepts its file, and reads the metrics port of both processes under the job of the alerts', async () => {
  await promtool('check', 'config', inRoot('deploy/prometheus.yml'));
  const { scrape_configs } = parse(readFileSync(inRoot('deploy/prometheus.yml'), 'utf8'));
  const targets = gatewaysOf().map(([name, { environment }]) => `${name}:${environment?.METRICS_PORT}`);
  expect(scrape_configs).toEqual([{ job_name: 'petstore', static_configs: [{ targets }] }]);
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
  for (const [, { environment, depends_on }] of gatewaysOf()) {
    expect(environment?.DATABASE_URL).toBe(
      `mysql://${MYSQL_USER}:${MYSQL_PASSWORD}@mysql:3306/${MYSQL_DATABASE}`,
    );
    expect(depends_on).toMatchObject({ mysql: { condition: 'service_healthy' } });
  }
});
