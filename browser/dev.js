import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer } from 'vite';
import { generateTypes } from './generate-types.js';
import { BUILDS } from './vite.config.js';

/**
 * `npm run dev`: after each change the server is compiled and restarted, and the dashboard reloaded, until Ctrl-C.
 * Not by `tsc --watch`, which sees no change of a project in a folder as short as `/srv/app`.
 */
const SERVER = ['src', 'schema'].map((name) => join(import.meta.dirname, '..', name, sep));
const gatewayUrl = `http://127.0.0.1:${process.env.PORT || 4000}`;

if (await health()) {
  console.error(`A program answers at ${gatewayUrl} already. Stop it, or set PORT to another port.`);
  process.exit(1);
}
await generateTypes();
const pages = await createServer({
  ...BUILDS.dashboard,
  configFile: false,
  server: { host: '127.0.0.1', proxy: { '/graphql': gatewayUrl } },
});
let isBuilding = false;
let isStale = false;
pages.watcher.add(SERVER);
pages.watcher.on('all', (_, file) => {
  if (SERVER.some((folder) => file.startsWith(folder))) void buildServer();
  if (file.endsWith('.graphql')) generateTypes().catch((error) => console.error(error.message));
});

const gateway = spawn(process.execPath, ['--watch', '--watch-preserve-output', 'dist/src/main.js'], {
  stdio: 'inherit',
  // In its own process group: Ctrl-C would reach the gateway twice, and the second signal ends it at once.
  detached: true,
  env: { SHUTDOWN_SECONDS: '2', ...process.env },
});
const gatewayEnd = once(gateway, 'exit');
let isEnding = false;
const end = async () => {
  if (isEnding) return;
  isEnding = true;
  gateway.kill('SIGINT');
  await Promise.all([gatewayEnd, pages.close()]);
  process.exit(0);
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);
void gatewayEnd.then(end);
// Nothing else ends it after an error here.
process.on('exit', () => gateway.kill('SIGINT'));

await pages.listen();
while (!isEnding && !(await health())?.ok) await sleep(200);
if (!isEnding) {
  console.log(
    `Dashboard ${pages.resolvedUrls.local[0]}   Gateway ${gatewayUrl}   Both follow your changes. Ctrl-C ends them.`,
  );
}

/** Null = nothing answers. */
function health() {
  return fetch(`${gatewayUrl}/healthz`, { signal: AbortSignal.timeout(2_000) }).catch(() => null);
}

async function buildServer() {
  isStale = true;
  if (isBuilding) return;
  isBuilding = true;
  while (isStale) {
    isStale = false;
    await once(spawn(process.execPath, ['build.js', 'server'], { stdio: 'inherit' }), 'exit');
  }
  isBuilding = false;
}
