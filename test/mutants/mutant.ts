import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A plausible bug, as a replacement of text in a file. */
export interface Mutant {
  id: string;
  /** Relative to `src`. */
  file: string;
  /** Occurs exactly once in the file. */
  find: string;
  replace: string;
  /** The promise that the bug breaks. */
  breaks: string;
  /** The tests that must notice the bug, by rule id or by the beginning of the name: one of them fails. */
  tests: readonly string[];
  /** For tests that run over several databases. SQLite without it. */
  database?: 'sqlite' | 'mysql';
  /** For tests of built processes: their database, and a part of the names of the tests that are enough. */
  process?: { readonly database: 'sqlite' | 'mysql'; readonly round: string };
}

/** The source with the bug. Throws unless the text to replace occurs exactly once. D-176. */
export function mutated(source: string, { file, find, replace }: Mutant): string {
  const [before, after, ...others] = source.split(find);
  if (before !== undefined && after !== undefined && others.length === 0) return before + replace + after;
  const problem = after === undefined ? 'is gone from' : 'occurs more than once in';
  throw new Error(`the text ${JSON.stringify(find)} ${problem} src/${file}`);
}

const SUITES = 'src/testing/suites';
/** A file that calls all suites. */
const CALLS_SUITES = 'test/nouns/toys.test.ts';

/** The sources of the tests of a tree, by file name relative to the root. */
export async function testSources(root: string): Promise<Map<string, string>> {
  const below = async (folder: string, end: string) =>
    (await readdir(join(root, folder), { recursive: true }))
      .filter((name) => name.endsWith(end))
      .map((name) => join(folder, name));
  const files = [...(await below('test', '.test.ts')), ...(await below(SUITES, '.ts'))];
  const texts = await Promise.all(files.map((name) => readFile(join(root, name), 'utf8')));
  return new Map(files.map((name, at) => [name, texts[at] ?? '']));
}

/** The file that runs the test of this rule id or beginning of a name. Throws unless exactly one file has it. */
export function testFileOf(test: string, sources: ReadonlyMap<string, string>): string {
  const [file, ...others] = [...sources.keys()].filter((name) => {
    const text = sources.get(name) ?? '';
    return [`'`, '"', '`'].some((quote) => text.includes(quote + beginningOf(test)));
  });
  if (file !== undefined && others.length === 0) return file.startsWith(SUITES) ? CALLS_SUITES : file;
  throw new Error(`${file === undefined ? 'no file has' : 'several files have'} a test ${test}`);
}

/** The beginning of a test's name: `Limits-1` must not find `Limits-12`. */
export function beginningOf(test: string): string {
  return /-\d+$/.test(test) ? `${test}: ` : test;
}
