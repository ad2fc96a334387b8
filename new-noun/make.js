import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { filled, problemOf, wordsOf } from './words.js';

const ROOT = join(import.meta.dirname, '..');
const TEMPLATE = join(import.meta.dirname, 'template');
const USAGE = `Usage: npm run new-noun -- <singular> [<plural>]

Makes a noun with a name and a state: its folder, its tests, and its entry in each of the three lists of nouns.

Examples:
  npm run new-noun -- book
  npm run new-noun -- person people`;

/** The lists of nouns: the text before the first entry, an entry, and where the entry is imported from. */
const LISTS = {
  'src/nouns.ts': {
    start: /(NOUNS: readonly \[.*\] = \[)/,
    entry: 'WIDGET',
    from: './widgets/widget.description.js',
  },
  'src/app/nouns.ts': {
    start: /(SERVED_NOUNS: .* = \[)/,
    entry: 'widgets',
    from: '../widgets/widgets.noun.js',
  },
  'test/support/nouns/tested-nouns.ts': {
    start: /(TEST_NOUNS: .* = \[)/,
    entry: 'WIDGETS',
    from: './widgets.js',
  },
};

const args = process.argv.slice(2);
if (args.some((arg) => arg === '--help' || arg === '-h')) {
  console.log(USAGE);
} else if (args.length < 1 || args.length > 2) {
  refuse(`State the noun, and its plural if it is irregular.\n\n${USAGE}`);
} else {
  make(wordsOf(...args));
}

function make(words) {
  if (!existsSync(join(ROOT, 'node_modules'))) return refuse('Run "npm ci" first.');
  const problem = problemOf(words, ROOT);
  if (problem !== null) return refuse(problem);
  const timeMs = Date.now();
  const made = templateFiles().map((path) => [
    filled(path, words),
    filled(readFileSync(join(TEMPLATE, path), 'utf8'), words, timeMs),
  ]);
  const lists = Object.keys(LISTS).map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]);
  const changed = lists.map(([file, text]) => [file, withEntry(text, LISTS[file], words)]);
  const files = [...made, ...changed].map(([file]) => file);
  write([...made, ...changed]);
  // The length of the words decides about line ends and the order of imports.
  const isFine =
    run('node_modules/.bin/biome', ['check', '--write', ...files]) &&
    run('node_modules/.bin/tsc', []) &&
    run(process.execPath, ['dist/schema/print.js']);
  if (isFine) return console.log(report(words, made, changed));
  for (const [file] of made) rmSync(join(ROOT, file));
  for (const folder of ['src', 'test']) rmSync(join(ROOT, folder, words.plural), { recursive: true });
  write(lists);
  refuse(`"${words.singular}" does not fit, for the reason above. Nothing was changed: choose another word.`);
}

function templateFiles() {
  return readdirSync(TEMPLATE, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(TEMPLATE, join(parentPath, name)))
    .sort();
}

function write(files) {
  for (const [file, text] of files) {
    mkdirSync(dirname(join(ROOT, file)), { recursive: true });
    writeFileSync(join(ROOT, file), text);
  }
}

/** The text of the list, with the noun at the end. */
function withEntry(text, { start, entry, from }, words) {
  const [whole] = new RegExp(`${start.source}[^\\]]*`).exec(text) ?? [];
  if (whole === undefined) throw new Error(`no list of nouns begins with ${start}`);
  const name = filled(entry, words);
  const separator = /[[,]\s*$/.test(whole) ? '' : ', ';
  const added = text.replace(whole, () => `${whole}${separator}${name}`);
  return `import { ${name} } from '${filled(from, words)}';\n${added}`;
}

/** Runs a program of the project. Returns whether it succeeded; prints its output if not. */
function run(program, options) {
  const { status, stdout, stderr, error } = spawnSync(program, options, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0)
    console.error(error ? `${program} did not start: ${error.message}` : `${stdout}${stderr}`);
  return status === 0;
}

function report({ singular, plural }, made, changed) {
  const lines = (files) => files.map(([file]) => `  ${file}`).join('\n');
  return `Made ${made.length} files. They are yours, and nothing generates them again:
${lines(made)}

Added ${plural} to ${changed.length} lists, and printed the contract anew into schema/:
${lines(changed)}

Next:
  npm start    # prints a key with its first start: put it into API_KEY, in a second terminal. An older database
               # in var/ has no ${plural}, and its key no scope for them: delete it first
  curl -s http://127.0.0.1:4000/v1/${plural} -H "Authorization: Bearer $API_KEY"
  TEST_DATABASES=sqlite npm test -- test/nouns test/${plural}

docs/your-own-noun.md says what to write into each file of your ${singular}.`;
}

function refuse(text) {
  console.error(text);
  process.exit(2);
}
