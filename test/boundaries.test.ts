import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from '@jest/globals';

/**
 * The rooms of `src` with the rooms that each may import; every room may import `kernel` and `config`. All other imports
 * are forbidden. Arrows point down: process → composition root → noun → doors → admission → tenants → database. D-103.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  'ground/kernel': [],
  'ground/config': [],
  'ground/scheduling': [],
  'ground/redis': [],
  'ground/migrations': [],
  'ground/metrics': [],
  'ground/log': [],

  'ground/database/sqlite': [],
  'ground/database/cluster': [],
  'ground/database': ['ground/scheduling', 'ground/database/sqlite', 'ground/database/cluster'],
  'ground/own-files': [],
  'ground/migrations/files': ['ground/migrations', 'ground/database', 'ground/own-files'],
  'ground/migrating': ['ground/database'],
  'ground/backup': [
    'ground/database',
    'ground/database/sqlite',
    'ground/database/cluster',
    'ground/migrating',
  ],
  'ground/records': ['ground/database', 'ground/migrations', 'ground/redis', 'ground/scheduling'],
  'tenants/audit': ['ground/database'],
  'tenants/idempotency': ['ground/database'],
  'request/rate-limit/rules': [],
  'request/rate-limit/memory': ['request/rate-limit/rules', 'ground/database', 'ground/migrations'],
  'request/rate-limit/redis': ['request/rate-limit/rules', 'request/rate-limit/memory', 'ground/redis'],
  'request/rate-limit': [
    'request/rate-limit/rules',
    'request/rate-limit/memory',
    'request/rate-limit/redis',
    'ground/redis',
    'ground/database',
  ],
  'tenants/projects': [
    'tenants/audit',
    'ground/database',
    'ground/migrations',
    'ground/records',
    'ground/scheduling',
    'tenants/idempotency',
  ],
  'tenants/api-keys': [
    'tenants/audit',
    'ground/database',
    'ground/migrations',
    'ground/records',
    'tenants/idempotency',
    'tenants/projects',
  ],
  'tenants/usage': ['tenants/api-keys', 'ground/database', 'ground/migrations'],
  'tenants/files': ['tenants/audit', 'ground/database', 'ground/migrations', 'ground/records'],
  'tenants/request-log': ['tenants/api-keys', 'tenants/usage', 'ground/database', 'ground/migrations'],

  'domains/dns': ['ground/scheduling'],
  'domains/names': [],
  'domains/diagnosis': ['domains/dns'],
  'domains/certificates/acme': [],
  'domains/certificates/store': ['ground/database', 'ground/scheduling'],
  'domains/certificates/orders': [
    'domains/certificates/acme',
    'domains/certificates/store',
    'ground/database',
    'domains/diagnosis',
  ],
  'domains/certificates': [
    'domains/certificates/acme',
    'domains/certificates/orders',
    'domains/certificates/store',
    'ground/database',
  ],
  'domains/store': ['domains/diagnosis', 'ground/database', 'ground/scheduling'],
  'domains/hosts': ['domains/store', 'ground/database', 'ground/scheduling'],
  'domains/lifecycle': [
    'domains/names',
    'domains/diagnosis',
    'domains/store',
    'domains/hosts',
    'tenants/audit',
    'domains/certificates',
    'domains/certificates/orders',
    'domains/certificates/store',
    'ground/database',
    'domains/dns',
    'tenants/projects',
    'ground/scheduling',
  ],
  domains: [
    'domains/names',
    'domains/diagnosis',
    'domains/store',
    'domains/lifecycle',
    'domains/hosts',
    'domains/dns',
    'domains/certificates',
    'domains/certificates/acme',
    'domains/certificates/store',
    'tenants/audit',
    'tenants/idempotency',
    'ground/database',
    'ground/migrations',
    'ground/records',
    'ground/scheduling',
  ],

  'request/response-cache': ['request/rate-limit/rules'],
  'request/http/connections': ['ground/scheduling'],
  'request/http/content': [],
  'request/http': ['request/http/connections', 'request/http/content', 'ground/database'],
  'request/overload': ['request/http', 'request/http/connections', 'tenants/projects'],
  'request/admission': ['request/http', 'tenants/api-keys', 'request/rate-limit/rules'],
  'request/streams': ['request/admission', 'ground/records', 'ground/redis', 'tenants/api-keys'],
  'request/tracing': [
    'request/admission',
    'request/rate-limit/rules',
    'request/response-cache',
    'ground/database',
    'ground/database/cluster',
  ],
  'request/ingress': [
    'request/http',
    'domains/hosts',
    'domains/certificates/store',
    'ground/database',
    'tenants/projects',
    'ground/scheduling',
  ],
  'doors/web/shown': [],
  'doors/web/pages/markup': ['doors/web/shown'],
  'doors/web/pages/reference': ['doors/web/pages/markup', 'doors/web/shown', 'request/http'],
  'doors/web/pages': ['doors/web/pages/markup', 'doors/web/pages/reference', 'request/http'],
  'doors/web': [
    'doors/web/pages',
    'doors/web/pages/markup',
    'request/http',
    'request/http/content',
    'tenants/projects',
  ],
  'doors/rest': [
    'request/http',
    'request/http/content',
    'request/admission',
    'request/response-cache',
    'ground/scheduling',
  ],
  'doors/rest/document': [
    'doors/rest',
    'ground/records',
    'request/http',
    'request/http/content',
    'request/rate-limit/rules',
  ],
  'doors/graphql/operations': ['request/admission'],
  'doors/graphql/execution': [
    'doors/graphql/operations',
    'request/http',
    'request/admission',
    'request/rate-limit/rules',
  ],
  'doors/graphql/schema/domains': [
    'doors/graphql/execution',
    'doors/graphql/operations',
    'domains',
    'domains/diagnosis',
    'domains/lifecycle',
    'domains/store',
    'domains/certificates/store',
  ],
  'doors/graphql/schema/lists': [
    'doors/graphql/execution',
    'doors/graphql/operations',
    'ground/records',
    'tenants/audit',
    'tenants/request-log',
  ],
  'doors/graphql/schema': [
    'doors/graphql/execution',
    'doors/graphql/operations',
    'doors/graphql/schema/domains',
    'doors/graphql/schema/lists',
    'ground/records',
    'request/admission',
    'request/rate-limit/rules',
    'request/streams',
    'tenants/audit',
    'tenants/projects',
    'tenants/api-keys',
    'tenants/request-log',
    'tenants/usage',
  ],
  'doors/graphql/streams': [
    'ground/records',
    'ground/scheduling',
    'doors/graphql/execution',
    'doors/graphql/schema/lists',
    'request/http',
    'request/streams',
  ],
  'doors/graphql': [
    'doors/graphql/streams',
    'request/streams',
    'doors/graphql/execution',
    'doors/graphql/operations',
    'doors/graphql/schema',
    'request/http',
    'request/http/content',
    'request/admission',
    'request/response-cache',
    'ground/scheduling',
  ],

  'noun/kinds': [],
  'noun/definition': ['noun/kinds'],
  'noun/records': [
    'noun/kinds',
    'noun/definition',
    'ground/database',
    'ground/records',
    'tenants/idempotency',
    'tenants/files',
  ],
  // Further tables of a noun: its deleted records, the progress of its hook.
  'noun/tables': [
    'noun/kinds',
    'noun/definition',
    'noun/records',
    'ground/database',
    'ground/records',
    'tenants/idempotency',
  ],
  'noun/graphql': [
    'noun/kinds',
    'noun/definition',
    'noun/records',
    'noun/tables',
    'ground/records',
    'doors/graphql/execution',
    'doors/graphql/operations',
    'doors/graphql/schema/lists',
  ],
  'noun/rest': [
    'noun/kinds',
    'noun/definition',
    'noun/records',
    'noun/tables',
    'doors/rest',
    'request/http',
    'request/http/content',
    'request/admission',
  ],
  noun: [
    'noun/kinds',
    'noun/definition',
    'noun/records',
    'noun/tables',
    'noun/graphql',
    'noun/rest',
    'doors/rest',
    'request/http',
    'ground/database',
    'ground/records',
    'tenants/idempotency',
    'tenants/files',
  ],
  // The example noun, with an own resolver and own routes.
  pets: [
    'noun',
    'noun/kinds',
    'noun/definition',
    'noun/records',
    'noun/tables',
    'noun/rest',
    'doors/graphql/execution',
    'doors/rest',
    'ground/migrations',
    'request/admission',
    'request/http',
  ],
};

/** The composition root, the processes and the suites of nouns may import every room. */
const MAY_IMPORT_ALL = [
  'app',
  'process',
  'cli',
  'cli/files',
  'cli/folder',
  'cli/types',
  'testing',
  'testing/suites',
  'testing/suites/options',
  'petstore',
  'main',
  'index',
];
const GROUND = ['ground/kernel', 'ground/config', 'noun-words', 'nouns', 'csv'];
const MOST_FILES = 16;
/** The folders directly in `src`, each below those after it: its files import nothing of these. */
const WINGS = [
  'ground',
  'tenants',
  'domains',
  'request',
  'doors',
  'noun',
  'pets',
  'app',
  'process',
  'cli',
  'petstore.ts',
  'main.ts',
  'index.ts',
  'testing',
];
/** Beside the wings, without other imports, for `browser/` too: the form of a noun's words, and the reader of CSV. */
const SEAM = ['csv.ts', 'noun-words.ts', 'nouns.ts'];

/** Libraries of the doors: rooms below a door must not import them. */
const DOOR_LIBRARIES = /^(fastify|@fastify\/|@as-integrations\/|@apollo\/|graphql|type-graphql|negotiator)/;
const DOORS = /^(request\/(http|admission|ingress)|doors|noun$|noun\/(graphql|rest)$|pets$|app|main)\b/;
/** The files that construct services. */
const COMPOSITION = [
  'noun/define-noun.ts',
  'noun/noun-of.ts',
  'pets/get-pet.ts',
  'app/parts.ts',
  'app/graphql-schema.ts',
  'app/services.ts',
];
/** The files that register hooks of the server: hooks of requests, and hooks of its shutdown. */
const HOOKS = ['app/hooks.ts', 'app/app.ts'];

interface Import {
  /** Relative to `src`. */
  file: string;
  /** A file relative to `src`, or the name of a library. */
  to: string;
  isOurs: boolean;
}

async function sourceFiles(): Promise<string[]> {
  return (await readdir('src', { recursive: true })).filter((file) => file.endsWith('.ts'));
}

/** Returns every import, of values and of types. */
async function imports(): Promise<Import[]> {
  const found = await Promise.all(
    (await sourceFiles()).map(async (file) => {
      const source = await readFile(join('src', file), 'utf8');
      const specifiers = [...source.matchAll(/\b(?:from|import)\s*\(?\s*'([^']+)'/g)];
      return specifiers.map(([, name = '']) => {
        const isOurs = name.startsWith('.');
        return { file, to: isOurs ? target(file, name) : name, isOurs };
      });
    }),
  );
  return found.flat();
}

/** The folder of a file; a file directly in `src` is its own room. */
const roomOf = (file: string) => (file.includes('/') ? dirname(file) : file.replace(/\.ts$/, ''));
const target = (file: string, specifier: string) =>
  normalize(join(dirname(file), specifier)).replace(/\.js$/, '.ts');
const mayImportAll = (room: string) => MAY_IMPORT_ALL.includes(room);

test('House-1: imports between rooms follow the direction of the design', async () => {
  const wrong = (await imports())
    .filter(({ isOurs, to }) => isOurs && !SEAM.includes(to))
    .map(({ file, to }) => ({ file, to, from: roomOf(file), room: roomOf(to) }))
    .filter(({ from, room }) => from !== room && !mayImportAll(from))
    .filter(
      ({ from, room }) => MAY_IMPORT[from] === undefined || ![...GROUND, ...MAY_IMPORT[from]].includes(room),
    )
    .map(({ file, to }) => `src/${file} imports ${to}`);
  expect(wrong).toEqual([]);
});

test('House-18: src has these wings, and a wing imports only wings below it and nothing of other folders', async () => {
  expect((await readdir('src')).sort()).toEqual([...WINGS, ...SEAM].toSorted());
  const wingOf = (file: string) => WINGS.indexOf(file.split('/', 1)[0] ?? '');
  const ours = (await imports()).filter(({ isOurs, to }) => isOurs && !SEAM.includes(to));
  const wrong = ours.filter(({ file, to }) => wingOf(to) > wingOf(file) || wingOf(to) === -1);
  expect(wrong.map(({ file, to }) => `src/${file} imports ${to}`)).toEqual([]);
});

test('House-19: only the noun and the file that says which gateway this is know pets, and only main.ts imports that file', async () => {
  // The build of `browser/` still has the nouns of one gateway.
  const gateways = ['src/petstore.ts', 'browser/nouns.ts'];
  const wrong = (await imports()).filter(
    ({ file, to }) =>
      (to.startsWith('pets/') && !file.startsWith('pets/') && file !== 'petstore.ts') ||
      (to === 'petstore.ts' && file !== 'main.ts'),
  );
  expect(wrong).toEqual([]);
  const entries = await Promise.all(
    ['src', 'browser'].map((root) => readdir(root, { recursive: true, withFileTypes: true })),
  );
  const files = entries
    .flat()
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(
      (file) => !file.startsWith('src/pets/') && !file.includes('/generated') && !gateways.includes(file),
    );
  expect(await namingPets(files)).toEqual([]);
});

test('House-22: in test/ only the folders of pets and of the documents know pets, and the platform is tested without them', async () => {
  const entries = await readdir('test', { recursive: true, withFileTypes: true });
  // The files directly in `test/` are about this repository, which has pets.
  const files = entries
    .filter((entry) => entry.isFile() && entry.parentPath !== 'test')
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/^test\/(support\/)?(pets|clients)\//.test(file));
  expect(files.length).toBeGreaterThan(300);
  expect(await namingPets(files)).toEqual([]);
});

/** The files that name or import pets. The word `petstore` is the product's. */
async function namingPets(files: readonly string[]): Promise<string[]> {
  const PET = /(?<![a-z])pets?(?![a-z])|Pets?(?![a-z])|PETS?(?![A-Z])|\/src\/petstore\.js'/;
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return files.filter((_, at) => PET.test((texts[at] ?? '').replaceAll(/(?<!\/src\/)petstore/gi, '')));
}

test('House-20: browser/ imports nothing of src but the words of nouns, what pages show too, and the reader of CSV', async () => {
  const files = (await readdir('browser', { recursive: true })).filter((file) => /\.(ts|tsx|js)$/.test(file));
  const found = await Promise.all(
    files.map(async (file) => {
      const source = await readFile(join('browser', file), 'utf8');
      const values = source.replaceAll(/\b(import|export) type\b[^;]*;/g, '');
      const namesIn = (text: string) =>
        [...text.matchAll(/\bfrom\s*'(\.[^']+)'/g)].map(([, name = '']) => name);
      const ofSrc = (text: string) =>
        namesIn(text)
          .map((name) => target(join('browser', file), name))
          .filter((to) => to.startsWith('src/'));
      return { values: ofSrc(values), all: ofSrc(source) };
    }),
  );
  const shown = (await readdir('src/doors/web/shown')).map((name) => `src/doors/web/shown/${name}`);
  const named = (part: 'values' | 'all') => [...new Set(found.flatMap((each) => each[part]))];
  expect(named('all').sort()).toEqual(['src/csv.ts', ...shown, 'src/noun-words.ts', 'src/nouns.ts'].sort());
});

test('House-21: client/ imports only its own files, and src/ and browser/ import nothing of it', async () => {
  const own = await readdir('client');
  for (const file of own.filter((name) => name.endsWith('.ts'))) {
    const source = await readFile(join('client', file), 'utf8');
    const names = [...source.matchAll(/\b(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, name = '']) => name);
    const foreign = names.filter((name) => !own.includes(name.replace(/^\.\/(.*)\.js$/, '$1.ts')));
    expect([file, foreign]).toEqual([file, []]);
  }
  for (const root of ['src', 'browser']) {
    const files = (await readdir(root, { recursive: true })).filter((file) => /\.(ts|tsx|js)$/.test(file));
    for (const file of files) {
      const source = await readFile(join(root, file), 'utf8');
      const imported = /\bfrom\s*'(?:(?:\.\.\/)+client\/|petstore-gateway)/.exec(source);
      expect([file, imported]).toEqual([file, null]);
    }
  }
});

test('House-5: a room imports only rooms listed before it, so rooms form no circle', () => {
  const rooms = Object.keys(MAY_IMPORT);
  const wrong = rooms.flatMap((room, at) =>
    (MAY_IMPORT[room] ?? [])
      .filter((other) => !rooms.slice(0, at).includes(other))
      .map((other) => `${room} → ${other}`),
  );
  expect(wrong).toEqual([]);
});

test('House-6: imports of files form no circle', async () => {
  const targets = new Map<string, string[]>();
  for (const { file, to } of (await imports()).filter(({ isOurs }) => isOurs)) {
    targets.set(file, [...(targets.get(file) ?? []), to]);
  }
  const reachedFrom = (file: string) => {
    const reached = new Set<string>();
    const next = [file];
    for (let at = next.pop(); at !== undefined; at = next.pop()) {
      const fresh = (targets.get(at) ?? []).filter((to) => !reached.has(to));
      for (const to of fresh) reached.add(to);
      next.push(...fresh);
    }
    return reached;
  };
  expect([...targets.keys()].filter((file) => reachedFrom(file).has(file))).toEqual([]);
});

test(`House-7: no folder of src or test has more than ${MOST_FILES} files`, async () => {
  const counts = new Map<string, number>();
  for (const root of ['src', 'test']) {
    for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) counts.set(entry.parentPath, (counts.get(entry.parentPath) ?? 0) + 1);
    }
  }
  expect([...counts].filter(([, count]) => count > MOST_FILES)).toEqual([]);
});

test('House-2: nouns import no library of a door: no Fastify, Apollo, graphql or type-graphql below admission', async () => {
  const wrong = (await imports())
    .filter(({ file, to, isOurs }) => !isOurs && DOOR_LIBRARIES.test(to) && !DOORS.test(roomOf(file)))
    .map(({ file, to }) => `src/${file} imports ${to}`);
  expect(wrong).toEqual([]);
});

test('House-3: the environment is read in one place, services are made in one place', async () => {
  for (const file of await sourceFiles()) {
    const source = await readFile(join('src', file), 'utf8');
    // The processes pass their environment to config.ts, and no other code reads it.
    const reads = source
      .replaceAll(/\b(loadConfig|testDatabaseUrl)\(process\.env[,)]/g, '')
      .includes('process.env');
    expect([file, reads]).toEqual([file, false]);
    const makes = /\bnew \w+(Service|Resolver|Admission)\(/.test(source);
    expect([file, makes && !COMPOSITION.includes(file)]).toEqual([file, false]);
  }
});

test('House-8: doors only map: no scope check, no idempotency and no audit log outside the services', async () => {
  // `project-audit.ts` is the service that reads the log for its owner.
  const decides =
    /\brequireScope\b|\bscopes\.has\(|\bidempotency\.once\(|\/(audit\/(?!project-audit\.js')|idempotency\/)/;
  const doors = (await sourceFiles()).filter((file) =>
    /^(doors|request\/ingress|\w+\/(graphql|rest))\//.test(file),
  );
  for (const file of doors) {
    expect([file, decides.exec(await readFile(join('src', file), 'utf8'))?.[0]]).toEqual([file, undefined]);
  }
});

test('House-9: only the two files of HOOKS register hooks', async () => {
  for (const file of await sourceFiles()) {
    const adds = (await readFile(join('src', file), 'utf8')).includes('.addHook(');
    expect([file, adds && !HOOKS.includes(file)]).toEqual([file, false]);
  }
});

test('House-10: a room reads a request field of another room only if it may import that room', async () => {
  const files = await Promise.all(
    (await sourceFiles()).map(async (file) => ({ file, source: await readFile(join('src', file), 'utf8') })),
  );
  const notes = files.flatMap(({ file, source }) => {
    const [, fields = ''] =
      /declare module 'fastify' \{\s*interface FastifyRequest \{(.*?)\n {2}\}/s.exec(source) ?? [];
    return [...fields.matchAll(/^ {4}(\w+)\??:/gm)].map(([, name = '']) => ({ name, owner: roomOf(file) }));
  });
  expect(notes.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['site', 'caller', 'standing', 'paidBy']),
  );
  const wrong = files.flatMap(({ file, source }) => {
    const room = roomOf(file);
    return notes
      .filter(({ owner }) => owner !== room && !mayImportAll(room) && !MAY_IMPORT[room]?.includes(owner))
      .filter(({ name }) =>
        new RegExp(`\\brequest\\.${name}\\b|\\{[^{}]*\\b${name}\\b[^{}]*\\}: (?:Pick<)?FastifyRequest`).test(
          source,
        ),
      )
      .map(({ name, owner }) => `src/${file} reads ${name} of ${owner}`);
  });
  expect(wrong).toEqual([]);
});

test('House-4: services get the time only from the clock passed to them', async () => {
  const files = await sourceFiles();
  const clocks = ['process/', 'cli/', 'testing/'];
  for (const file of files.filter((name) => !clocks.some((place) => name.startsWith(place)))) {
    const source = await readFile(join('src', file), 'utf8');
    expect([file, /Date\.now|new Date\(\)/.test(source)]).toEqual([file, false]);
  }
});
