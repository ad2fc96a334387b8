import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Builds each part of `dist/` that was not built from its present files, and says so at once; `npm start` runs it each time.
 * Arguments name the parts; without any it builds all. Standard output stays free for the log of the server.
 */
const ROOT = import.meta.dirname ?? '';
const { bin, engines } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
const oldestNode = engines.node.replace('>=', '');
const { node } = process.versions;
if (node.localeCompare(oldestNode, 'en', { numeric: true }) < 0)
  end(`This needs Node ${oldestNode} or later, and runs on Node ${node}.`);
if (!existsSync(join(ROOT, 'node_modules'))) end('The packages are not installed yet. Run: npm ci');

// Only now: an older Node cannot load it.
const { BROWSER_PARTS, digestOf, filesBelow } = await import('./browser/build.js');

/** A part that the compiler makes of a folder with a `tsconfig.json`. */
function compiled({ project, stamp, folders, files, finish = () => {} }) {
  const at = (name) => join(ROOT, name);
  return {
    stamp: at(stamp),
    async inputs() {
      const found = await Promise.all(folders.map((name) => filesBelow(at(name))));
      return digestOf([...found.flat(), ...files.map(at)]);
    },
    async build(inputs) {
      const options = { cwd: ROOT, stdio: 'inherit' };
      const { status, error } = spawnSync(at('node_modules/.bin/tsc'), ['-p', project], options);
      if (error) end('A build needs the packages of development too. Run: npm ci');
      if (status !== 0) process.exit(status ?? 1);
      finish();
      writeFileSync(at(stamp), inputs);
    },
  };
}

const COMMON = ['build.js', 'tsconfig.json', 'package-lock.json'];
const SERVER = compiled({
  project: '.',
  stamp: 'dist/src/built-from',
  folders: ['src'],
  // Without the folder of the generators: its packages take half a gigabyte.
  files: [...COMMON, 'ormconfig.ts', ...filesIn('schema')],
  finish: () => chmodSync(join(ROOT, bin.petstore), 0o755),
});
/** For the programs of users: `petstore-gateway/client`. */
const CLIENT = compiled({
  project: 'client',
  stamp: 'dist/client/built-from',
  folders: ['client'],
  files: COMMON,
});

const parts = { server: SERVER, client: CLIENT, ...BROWSER_PARTS };
const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts);
let isAnnounced = false;
for (const name of wanted) {
  const { stamp } = parts[name];
  const inputs = await parts[name].inputs();
  const builtFrom = existsSync(stamp) ? readFileSync(stamp, 'utf8') : null;
  if (builtFrom === inputs) continue;
  if (!isAnnounced) say(builtFrom === null ? 'Building (once)…\n' : 'Building what has changed…\n');
  isAnnounced = true;
  say(`  ${name}… `);
  const startedAt = performance.now();
  await parts[name].build(inputs);
  say(`${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
}

/** Without those of its folders. */
function filesIn(folder) {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => join(folder, name));
}

function say(text) {
  process.stderr.write(text);
}

function end(problem) {
  say(`${problem}\n`);
  process.exit(1);
}
