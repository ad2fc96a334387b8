import { describe, expect, test } from '@jest/globals';
import { ConfigError, loadConfig } from '../../src/ground/config/config.js';
import { redisTarget } from '../../src/ground/config/servers.js';

describe('settings', () => {
  test('Config-1: without settings, everything runs on a laptop from one SQLite file, with the demo', () => {
    expect(loadConfig({})).toMatchObject({
      host: '127.0.0.1',
      port: 4000,
      database: { kind: 'sqlite', path: './var/petstore.sqlite' },
      environment: 'production',
      platformHost: 'petstore.localhost',
      shutdownSeconds: 20,
      demo: true,
    });
  });

  test('Config-2: an empty value counts as not set', () => {
    expect(loadConfig({ PORT: '', HOST: ' ', DEMO: '' })).toEqual(loadConfig({}));
  });

  test('Config-3: with DATABASE_URL set there is no demo unless DEMO asks for it', () => {
    expect(loadConfig({ DATABASE_URL: 'mysql://u:p@db/petstore' }).demo).toBe(false);
    expect(loadConfig({ DATABASE_URL: 'mysql://u:p@db/petstore', DEMO: '1' }).demo).toBe(true);
    expect(loadConfig({ DATABASE_URL: 'sqlite::memory:' }).database).toMatchObject({
      kind: 'sqlite',
      path: ':memory:',
    });
  });

  test('Config-14: a replica needs a server in DATABASE_URL', () => {
    const DATABASE_READ_URL = 'mysql://u:p@replica/petstore';
    expect(() => loadConfig({ DATABASE_READ_URL })).toThrow(
      'DATABASE_READ_URL needs MySQL or MariaDB in DATABASE_URL.',
    );
    const { replica } = loadConfig({ DATABASE_URL: 'mariadb://u:p@db/petstore', DATABASE_READ_URL });
    expect(replica?.url).toBe('mysql://u:p@replica:3306/petstore');
    const two = 'mysql://u:p@a,b/petstore';
    expect(() => loadConfig({ DATABASE_URL: two, DATABASE_READ_URL: two })).toThrow('one address of MySQL');
  });

  test.each([
    ['PORT', 'abc'],
    ['PORT', '-1'],
    ['PORT', '65536'],
    ['PORT', '4000.5'],
    ['HTTPS_PORT', '-1'],
    ['PUBLIC_HTTPS_PORT', '0'],
    ['DNS_SERVERS', 'dns.example.com'],
    ['DNS_SERVERS', '9.9.9.9:0'],
    ['DNS_SERVERS', '[2620:fe::fe'],
    ['DNS_NAME_SERVER_PORT', '0'],
    ['DNS_PRIVATE_NAME_SERVERS', 'yes'],
    ['ACME_DIRECTORY_URL', 'http://ca.example.org/directory'],
    ['SECRET_KEY', 'secret'],
    ['SECRET_KEY', 'secret'.repeat(20)],
    ['DATABASE_URL', 'postgres://u:secret@db/petstore'],
    ['DATABASE_URL', 'mysql://u:secret@db'],
    ['DATABASE_URL', 'mysql://'],
    ['DATABASE_URL', 'sqlite:'],
    ['DATABASE_READ_URL', 'sqlite:replica.sqlite'],
    ['DATABASE_READ_URL', 'mysql://u:secret@db'],
    ['DATABASE_POOL_SIZE', '0'],
    ['PETSTORE_ENV', 'test'],
    ['PUBLIC_BASE_URL', 'api.example.com'],
    ['PUBLIC_BASE_URL', 'https://api.example.com/v1'],
    ['STAGING_BASE_URL', 'ftp://x'],
    ['PLATFORM_HOST', 'Petstore.Example'],
    ['CORS_ORIGINS', 'https://a.example/path'],
    ['CORS_ORIGINS', '*'],
    ['LOG_LEVEL', 'loud'],
    ['METRICS_PORT', 'on'],
    ['REDIS_URL', 'http://:secret@redis'],
    ['REDIS_URL', 'redis://:secret@a,b'],
    ['REDIS_URL', 'redis://:secret@a:1,b:?cluster=true,'],
    ['REDIS_URL', 'redis+sentinel://:secret@a,b'],
    ['REDIS_URL', 'redis+sentinel://:secret@a,b:99999/petstore'],
    ['REDIS_URL', 'redis+sentinel://:secret%zz@a/petstore'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', 'proxy.example'],
    ['SHUTDOWN_SECONDS', '0'],
    ['DEMO', 'yes'],
  ])('Config-4: %s=%s is refused in one line that names the variable and shows no secret', (name, value) => {
    const load = () => loadConfig({ [name]: value });
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(new RegExp(`^${name} must be [^\\n]+\\.$`));
    expect(load).not.toThrow(/secret/);
  });

  test('Config-8: certificates need a key that seals their private keys, in base64 or hexadecimal', () => {
    const key = Buffer.alloc(32, 7);
    const on = { HTTPS_PORT: '8443' };
    expect(() => loadConfig(on)).toThrow(/^SECRET_KEY must be set for certificates: .*openssl rand/);
    expect(() => loadConfig({ ACME_DIRECTORY_URL: 'https://ca.example.org/directory' })).toThrow(
      /SECRET_KEY/,
    );
    for (const text of [key.toString('base64'), key.toString('base64url'), key.toString('hex')]) {
      expect(loadConfig({ ...on, SECRET_KEY: text }).secretKeys).toEqual([key]);
    }
    const previous = Buffer.alloc(32, 8);
    const rotated = { SECRET_KEY: key.toString('hex'), SECRET_KEY_PREVIOUS: previous.toString('base64') };
    expect(loadConfig(rotated).secretKeys).toEqual([key, previous]);
    expect(() => loadConfig({ SECRET_KEY_PREVIOUS: rotated.SECRET_KEY_PREVIOUS })).toThrow(ConfigError);
  });

  test('Config-13: Redis is one server, several of a Cluster, or the Sentinels of a master', () => {
    const one = { mode: 'server', servers: [{ host: 'a', port: 6_379 }], isTls: false, db: 0 };
    expect(redisTarget('redis://a')).toMatchObject(one);
    expect(redisTarget('rediss://u:p%40@[::1]:7/2')).toMatchObject({
      servers: [{ host: '::1', port: 7 }],
      login: { username: 'u', password: 'p@' },
      isTls: true,
      db: 2,
    });
    const servers = [1, 2].map((port) => ({ host: 'a', port }));
    expect(redisTarget('redis://a:1,a:2?cluster=true')).toMatchObject({ mode: 'cluster', servers });
    expect(redisTarget('redis+sentinel://:p@a,b:1/petstore/3?sentinel_password=s')).toMatchObject({
      mode: 'sentinel',
      servers: [
        { host: 'a', port: 26_379 },
        { host: 'b', port: 1 },
      ],
      masterName: 'petstore',
      db: 3,
      login: { password: 'p' },
      sentinelLogin: { password: 's' },
    });
  });

  test('Config-9: resolvers are addresses with an optional port', () => {
    expect(
      loadConfig({ DNS_SERVERS: '9.9.9.9, 127.0.0.1:5301,[2620:fe::fe]:53,2620:fe::9' }).dnsServers,
    ).toEqual([
      { address: '9.9.9.9', port: 53 },
      { address: '127.0.0.1', port: 5301 },
      { address: '2620:fe::fe', port: 53 },
      { address: '2620:fe::9', port: 53 },
    ]);
  });

  test('Config-12: tracing has the standard settings; a wrong one is refused, also without a collector', () => {
    expect(loadConfig({ OTEL_SERVICE_NAME: 'shop' }).tracing).toBeNull();
    const settings = loadConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example:4318/otlp/',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x, x-tenant=7',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.01',
    }).tracing;
    expect(settings).toEqual({
      tracesUrl: 'https://collector.example:4318/otlp/v1/traces',
      headers: { authorization: 'Bearer x', 'x-tenant': '7' },
      serviceName: null,
      resourceAttributes: {},
      sampler: 'traceidratio',
      sampledShare: 0.01,
    });
    const wrong = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'grpc://user:secret@collector:4317',
      OTEL_EXPORTER_OTLP_HEADERS: 'secret',
      OTEL_RESOURCE_ATTRIBUTES: 'secret=%0A',
      OTEL_TRACES_SAMPLER: 'sometimes',
      OTEL_TRACES_SAMPLER_ARG: '2',
    };
    for (const [name, value] of Object.entries(wrong)) {
      expect(() => loadConfig({ [name]: value })).toThrow(new RegExp(`^${name} must be `));
      expect(() => loadConfig({ [name]: value })).not.toThrow(/secret/);
    }
  });
});
