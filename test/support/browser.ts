import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';
import { executableOnPath } from './servers/programs/programs.js';

const execute = promisify(execFile);

/** The same engine without the windows of a browser, which take a quarter of the processor time of these tests. */
const HEADLESS = 'chromium-headless-shell';
const NAMES = [HEADLESS, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const INSTALL_MS = 10 * 60_000;
const ARGUMENTS = [
  // Chromium refuses to start as root without this flag, and most containers run as root.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts the browser that `findBrowser` found before the tests started. */
export async function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: await findBrowser(), headless: true, args: ARGUMENTS });
}

/** Returns the path of Chromium or Chrome: `CHROMIUM_PATH`, an installed one, or else Debian's package. */
export async function findBrowser(): Promise<string> {
  const given = process.env.CHROMIUM_PATH;
  if (given) return given;
  const failures: string[] = [];
  for (const place of [installed, installedNow]) {
    try {
      return await place();
    } catch (error) {
      failures.push(`- ${(error as Error).message.trim()}`);
    }
  }
  throw new Error(
    `No browser for the tests. Install Chromium or Chrome (on Debian: apt-get install ${HEADLESS}), or set CHROMIUM_PATH to its program. Tried:\n${failures.join('\n')}`,
  );
}

async function installed(): Promise<string> {
  for (const name of NAMES) {
    try {
      return executableOnPath(name);
    } catch {
      // Try the next name.
    }
  }
  throw new Error(`none of ${NAMES.join(', ')} is on PATH`);
}

/** Installs the package. Unlike the servers it cannot run from `.cache`, because it reads files at fixed paths. */
async function installedNow(): Promise<string> {
  if (process.getuid?.() !== 0) throw new Error('only root may install a package');
  const apt = (...args: string[]) =>
    execute('apt-get', args, {
      timeout: INSTALL_MS,
      maxBuffer: 1e8,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  await apt('update');
  await apt('install', '--yes', '--no-install-recommends', HEADLESS);
  return executableOnPath(HEADLESS);
}
