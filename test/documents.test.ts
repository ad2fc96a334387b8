import { existsSync, statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { expect, test } from '@jest/globals';

/** The folders and files whose code decisions bind. */
const BOUND = [
  ...['src', 'client', 'test', 'test-browser', 'bench', 'browser', 'deploy', 'schema'],
  ...['Dockerfile', 'docker-compose.yml', 'docker-compose.cluster.yml', 'jest.config.js', 'package.json'],
];
const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'bench/measurements.md'];
const MOST_WORDS = 15_000;

test('House-15: each decision is cited by the code that it binds, and each cited decision is there', async () => {
  const text = await readFile('docs/decisions.md', 'utf8');
  const decisions = [...text.matchAll(/^### (D-\d+) /gm)].map(([, id = '']) => id);
  expect(decisions.length).toBeGreaterThan(100);
  expect(decisions.filter((id, at) => decisions.indexOf(id) !== at)).toEqual([]);
  const inCode = await citations(await bound());
  expect(decisions.filter((id) => !inCode.has(id))).toEqual([]);
  const anywhere = new Set([...inCode, ...(await citations(await documents()))]);
  expect([...anywhere].filter((id) => !decisions.includes(id))).toEqual([]);
});

test('House-16: each link of a document leads to a file and a heading', async () => {
  const broken: string[] = [];
  let links = 0;
  for (const file of await documents()) {
    for (const [, target = ''] of (await readFile(file, 'utf8')).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      links += 1;
      const [path = '', anchor] = target.split('#');
      const to = path === '' ? file : join(dirname(file), path);
      if (!existsSync(to) || (anchor && !(await anchors(to)).has(anchor))) broken.push(`${file}: ${target}`);
    }
  }
  expect(links).toBeGreaterThan(30);
  expect(broken).toEqual([]);
});

test(`House-17: docs/ has at most ${MOST_WORDS} words, and README.md 130 lines with 1,400 words`, async () => {
  const words = (text: string) => text.split(/\s+/).filter((word) => word !== '').length;
  const files = (await documents()).filter((file) => file.startsWith('docs/'));
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  expect(texts.reduce((sum, text) => sum + words(text), 0)).toBeLessThanOrEqual(MOST_WORDS);
  const readme = await readFile('README.md', 'utf8');
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(130);
  expect(words(readme)).toBeLessThanOrEqual(1_400);
});

const documents = async () => {
  const names = (await readdir('docs')).filter((name) => name.endsWith('.md'));
  return [...DOCUMENTS, ...names.map((name) => join('docs', name))];
};

/** This file names no decision that it is bound by. */
async function bound(): Promise<string[]> {
  const below = BOUND.map(async (path) => {
    if (!statSync(path).isDirectory()) return [path];
    const names = await readdir(path, { recursive: true });
    return names.filter((name) => !name.includes('node_modules')).map((name) => join(path, name));
  });
  const files = (await Promise.all(below)).flat().filter((path) => statSync(path).isFile());
  return files.filter((path) => path !== relative('.', __filename) && !path.endsWith('.md'));
}

async function citations(files: readonly string[]): Promise<Set<string>> {
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return new Set(texts.flatMap((text) => text.match(/\bD-\d+\b/g) ?? []));
}

/** As GitHub makes them: in lower case, without punctuation, with hyphens for spaces. */
async function anchors(file: string): Promise<Set<string>> {
  const headings = (await readFile(file, 'utf8')).matchAll(/^#+ (.*)$/gm);
  const clean = (heading = '') =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
  return new Set([...headings].map(([, heading]) => clean(heading)));
}
