import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from '@jest/globals';

/**
 * Who may import whom: folders of `src`, and its top-level files by name. What is not listed is forbidden.
 * Arrows point down: process → composition root → doors → admission → nouns → what everything stands on.
 */
const GROUND = [
  'data-versions',
  'errors',
  'deadline',
  'int64',
  'ids',
  'caller',
  'config',
  'validation',
  'version',
];
const MAY_IMPORT: Record<string, string[]> = {
  'data-versions': [],
  errors: [],
  deadline: [],
  int64: [],
  ids: [],
  config: [],
  validation: ['errors', 'int64'],
  version: [],
  'start-problem': [...GROUND, 'database'],
  caller: ['errors', 'rate-limit'],
  addresses: ['config'],
  audit: [...GROUND, 'database'],
  projects: [...GROUND, 'database', 'audit', 'rate-limit'],
  'api-keys': [...GROUND, 'database', 'audit', 'projects', 'idempotency'],
  usage: [...GROUND, 'database'],
  chores: [],
  idempotency: [...GROUND, 'database'],
  pets: [...GROUND, 'database', 'idempotency', 'audit'],
  // The one DataSource names every entity.
  database: [
    ...GROUND,
    'projects',
    'api-keys',
    'pets',
    'idempotency',
    'audit',
    'rate-limit',
    'certificates',
    'domains',
    'usage',
    'migrations',
  ],
  dns: [...GROUND],
  certificates: [...GROUND, 'database'],
  domains: [...GROUND, 'database', 'redis', 'dns', 'projects', 'certificates', 'audit'],
  ingress: [...GROUND, 'database', 'http', 'domains', 'certificates', 'projects', 'admission'],
  migrations: [],
  redis: [],
  'rate-limit': [...GROUND, 'database', 'redis'],
  http: [...GROUND, 'database', 'metrics'],
  metrics: [],
  'response-cache': [...GROUND, 'rate-limit'],
  admission: [...GROUND, 'api-keys', 'rate-limit'],
  rest: [...GROUND, 'http', 'admission', 'response-cache', 'pets'],
  graphql: [
    ...GROUND,
    'response-cache',
    'rate-limit',
    'http',
    'admission',
    'pets',
    'projects',
    'api-keys',
    'usage',
    'domains',
    'certificates',
    'idempotency',
    'audit',
  ],
  pages: [...GROUND, 'http', 'projects'],
  dashboard: [...GROUND, 'http'],
  demo: [...GROUND, 'services', 'pets'],
  services: [...GROUND, 'database', 'audit', 'projects', 'api-keys', 'pets', 'idempotency', 'usage'],
  'custom-domains': [...GROUND, 'database', 'audit', 'projects', 'dns', 'domains', 'certificates'],
  app: [
    ...GROUND,
    'addresses',
    'chores',
    'http',
    'admission',
    'rest',
    'graphql',
    'pages',
    'dashboard',
    'ingress',
    'services',
    'custom-domains',
    'domains',
    'database',
    'rate-limit',
    'response-cache',
    'metrics',
  ],
  cli: [
    ...GROUND,
    'services',
    'custom-domains',
    'redis',
    'rate-limit',
    'database',
    'projects',
    'api-keys',
    'pets',
    'audit',
    'dns',
    'domains',
    'certificates',
  ],
  log: [],
  main: [...GROUND, 'app', 'addresses', 'database', 'demo', 'log', 'start-problem'],
};

/** Libraries of a door: nothing below a door may know them. */
const DOOR_LIBRARIES = /^(fastify|@fastify\/|@as-integrations\/|@apollo\/|graphql|type-graphql|negotiator)/;
/** Where services are made. */
const COMPOSITION = ['app.ts', 'services.ts', 'custom-domains.ts'];
const DOORS = ['http', 'admission', 'rest', 'graphql', 'pages', 'dashboard', 'ingress', 'app', 'main'];

interface Import {
  file: string;
  from: string;
  to: string;
}

async function imports(): Promise<Import[]> {
  const files = (await readdir('src', { recursive: true })).filter((file) => file.endsWith('.ts'));
  const found = await Promise.all(
    files.map(async (file) => {
      const source = await readFile(join('src', file), 'utf8');
      const specifiers = [...source.matchAll(/\b(?:from|import)\s*\(?\s*'([^']+)'/g)].map(
        ([, name = '']) => name,
      );
      return specifiers.map((to) => ({
        file,
        from: roomOf(file),
        to: to.startsWith('.') ? target(file, to) : to,
      }));
    }),
  );
  return found.flat();
}

const roomOf = (path: string) => path.split('/')[0]?.replace(/\.[jt]s$/, '') ?? path;
const target = (file: string, specifier: string) => `./${normalize(join(dirname(file), specifier))}`;

test('House-1: imports between rooms follow the direction of the design', async () => {
  const wrong = (await imports())
    .filter(({ to }) => to.startsWith('./'))
    .map((found) => ({ ...found, room: roomOf(found.to.slice(2)) }))
    .filter(({ from, room }) => from !== room && !MAY_IMPORT[from]?.includes(room))
    .map(({ file, to }) => `src/${file} imports ${to}`);
  expect(wrong).toEqual([]);
});

test('House-2: nouns know no door: no Fastify, Apollo, graphql or type-graphql below admission', async () => {
  const wrong = (await imports())
    .filter(({ from, to }) => DOOR_LIBRARIES.test(to) && !DOORS.includes(from))
    .map(({ file, to }) => `src/${file} imports ${to}`);
  expect(wrong).toEqual([]);
});

test('House-3: the environment is read in one place, services are made in one place', async () => {
  const files = (await readdir('src', { recursive: true })).filter((file) => file.endsWith('.ts'));
  for (const file of files) {
    const source = await readFile(join('src', file), 'utf8');
    // The processes hand their environment to config.ts, and nothing else looks into it.
    const reads = source.replaceAll('loadConfig(process.env)', '').includes('process.env');
    expect([file, reads]).toEqual([file, false]);
    const makes = /\bnew \w+(Service|Resolver|Admission)\(/.test(source);
    expect([file, makes && !COMPOSITION.includes(file)]).toEqual([file, false]);
  }
});

test('House-4: nothing but the clock given to it tells a service the time', async () => {
  const files = (await readdir('src', { recursive: true })).filter((file) => file.endsWith('.ts'));
  const clocks = ['main.ts', 'cli/'];
  for (const file of files.filter((name) => !clocks.some((place) => name.startsWith(place)))) {
    const source = await readFile(join('src', file), 'utf8');
    expect([file, /Date\.now|new Date\(\)/.test(source)]).toEqual([file, false]);
  }
});
