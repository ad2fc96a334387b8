import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.js';

describe('docker compose up', () => {
  test('Compose-1: starts MySQL 8.4, then the gateway with valid settings', async () => {
    const { services, volumes } = parse(await readFile('docker-compose.yml', 'utf8'));
    expect(services.mysql.image).toBe('mysql:8.4');
    expect(services.gateway.depends_on.mysql.condition).toBe('service_healthy');
    expect(services.mysql.healthcheck.test).toContain('mysqladmin');

    const config = loadConfig(services.gateway.environment);
    const { MYSQL_USER, MYSQL_PASSWORD, MYSQL_DATABASE } = services.mysql.environment;
    expect(config.database).toEqual({
      kind: 'mysql',
      url: `mysql://${MYSQL_USER}:${MYSQL_PASSWORD}@mysql:3306/${MYSQL_DATABASE}`,
      tls: false,
    });
    expect(config.demo).toBe(true);
    expect(services.gateway.ports).toEqual([`127.0.0.1:${config.port}:4000`]);
    for (const mount of services.mysql.volumes) expect(Object.keys(volumes)).toContain(mount.split(':')[0]);
    // Docker must not kill the gateway before its own shutdown time is over.
    expect(Number.parseInt(services.gateway.stop_grace_period, 10)).toBeGreaterThan(config.shutdownSeconds);
  });

  test('Compose-2: the image uses Node 24, runs unprivileged, copies existing files and starts the built program', async () => {
    const dockerfile = await readFile('Dockerfile', 'utf8');
    const stages = dockerfile.split(/^FROM /m).slice(1);
    expect(stages).toHaveLength(2);
    for (const stage of stages) expect(stage).toMatch(/^node:24-slim/);
    expect(stages[1]).toMatch(/^USER node$/m);
    expect(stages[1]).toMatch(/^HEALTHCHECK /m);
    const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
    expect(scripts.start).toContain('dist/src/main.js');
    expect(stages[1]).toContain('CMD ["node", "dist/src/main.js"]');

    const ignored = (await readFile('.dockerignore', 'utf8')).split('\n');
    const copied = [...(stages[0] ?? '').matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, sources = '']) =>
      sources.split(' '),
    );
    for (const source of copied) expect(ignored).toContain(`!${source}`);
    const { include } = JSON.parse(await readFile('tsconfig.json', 'utf8'));
    for (const source of include) expect(copied).toContain(source);
  });
});
