import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { packageRoot } from '../../src/ground/kernel/package.js';
import { createTestDatabase } from '../support/databases.js';
import { testOnMysql } from '../support/on-databases.js';
import { slowness } from '../support/own-time.js';
import { buildImage, type Image, sizeOf } from '../support/repository/image.js';

/** The base image takes about 150 MB of the 250 MB. */
const MAX_MB = 100;
const MAX_START_MS = 1_500;
/** The number of the image's user. */
const USER = 65_532;

let image: Image;

beforeAll(async () => {
  image = await buildImage();
  for (let folder = dirname(image.app); folder !== '/tmp' && folder !== '/'; folder = dirname(folder))
    await chmod(folder, 0o755);
}, 300_000);
afterAll(() => image?.remove());

/** Starts the image's command as its user, where the test may change users. Resolves with its address and time to start. */
async function start(env: Record<string, string>) {
  const user = process.getuid?.() === 0 ? { uid: USER, gid: USER } : {};
  const startedAt = performance.now();
  const child = spawn(process.execPath, image.command, {
    cwd: image.app,
    env: { NODE_ENV: 'production', HOST: '0.0.0.0', PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  });
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    const read = (text: string) => {
      output += text;
      const [, port] = /listens on http:\/\/[^:]+:(\d+)/.exec(output) ?? [];
      if (port) resolve(`http://127.0.0.1:${port}`);
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', read);
    child.once('exit', (code) => reject(new Error(`exit ${code}: ${output}`)));
  });
  const tookMs = performance.now() - startedAt;
  const stop = () =>
    new Promise<number | null>((resolve) => {
      child.once('exit', resolve);
      child.kill('SIGINT');
    });
  return { url, tookMs, stop };
}

test(`Image-1: the files take at most ${MAX_MB} MB, with production packages only`, async () => {
  expect(await sizeOf(image.app)).toBeLessThan(MAX_MB * 1_000_000);
  const packages = await readdir(join(image.app, 'node_modules'));
  expect(packages).toContain('typeorm');
  expect(packages).not.toContain('typescript');
  expect(packages).not.toContain('jest');
});

testOnMysql('Image-2: an unprivileged user serves MySQL from a tree that cannot be written', async () => {
  const database = await createTestDatabase('mysql');
  try {
    const gateway = await start({ DATABASE_URL: database.url, DEMO: '0' });
    for (const path of ['/readyz', '/', '/dashboard', '/v1/docs', '/v1/openapi.json'])
      expect([path, (await fetch(gateway.url + path)).status]).toEqual([path, 200]);
    expect(await gateway.stop()).toBe(0);
    expect(await readdir(join(image.app, 'var'))).toEqual([]);
  } finally {
    await database.remove();
  }
});

test('Image-3: without settings it writes its database into var, and nothing elsewhere', async () => {
  const gateway = await start({});
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
  expect(await gateway.stop()).toBe(0);
  expect(existsSync(join(image.app, 'var/petstore.sqlite'))).toBe(true);
});

test(`Image-4: it starts within ${MAX_START_MS} ms`, async () => {
  const times: number[] = [];
  for (let run = 0; run < 3; run += 1) {
    const gateway = await start({});
    times.push(gateway.tookMs / (await slowness()));
    await gateway.stop();
  }
  expect(Math.min(...times)).toBeLessThan(MAX_START_MS);
});

test('Image-5: it is built and run on Node 24, as an unprivileged user, with a health check', () => {
  const stages = readFileSync(join(packageRoot(), 'Dockerfile'), 'utf8')
    .split(/^FROM /m)
    .slice(1);
  expect(stages).toHaveLength(2);
  expect(stages[0]).toMatch(/^node:24-slim AS build$/m);
  expect(stages[1]).toMatch(/^gcr\.io\/distroless\/nodejs24-debian12:nonroot$/m);
  expect(stages[1]).toMatch(/^HEALTHCHECK /m);
});
