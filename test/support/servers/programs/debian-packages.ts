import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cachedFolder } from './cached-folder.js';
import { openUnpackedRoot, type UnpackedRoot } from './unpacked-root.js';

const execute = promisify(execFile);

export interface DebianPackages {
  /** The folder below `.cache`. Choose another name when the packages change. */
  name: string;
  /** `own`: the suites of this machine. Otherwise one suite of the archive they come from, such as `sid`. */
  suite: 'own' | (string & {});
  packages: string[];
  /** Files and folders below the root that are deleted after unpacking. */
  unneeded?: string[];
}

/**
 * Unpacks packages with all dependencies, the C library included, into `.cache/<name>`, without root and without a
 * change of the machine's own apt state. Rejects without apt, without a mirror and for an unknown package.
 */
export async function unpackDebianPackages({
  name,
  suite,
  packages,
  unneeded = [],
}: DebianPackages): Promise<UnpackedRoot> {
  const folder = await cachedFolder(name, async (draft) => {
    const home = join(draft, 'apt');
    const apt = await useSuite(await privateApt(home), home, suite);
    await apt('install', '--yes', '--download-only', ...packages);
    const archives = join(home, 'archives');
    const files = (await readdir(archives)).filter((file) => file.endsWith('.deb'));
    for (const file of files) await execute('dpkg', ['-x', join(archives, file), join(draft, 'root')]);
    for (const path of unneeded) await rm(join(draft, 'root', path), { recursive: true, force: true });
    await writeFile(join(draft, 'packages.txt'), `${files.sort().join('\n')}\n`);
    await rm(home, { recursive: true });
  });
  return openUnpackedRoot(join(folder, 'root'));
}

/** Returns true on Ubuntu and its derivatives; their archive has no `sid`. */
export function isUbuntu(): boolean {
  return (
    existsSync('/etc/os-release') && /^ID(_LIKE)?=.*ubuntu/m.test(readFileSync('/etc/os-release', 'utf8'))
  );
}

type Apt = (...args: string[]) => Promise<string>;

/** Returns an apt-get with private lists, state and cache. It still uses the machine's proxies and certificates. */
async function privateApt(home: string): Promise<Apt> {
  await mkdir(join(home, 'lists/partial'), { recursive: true });
  await mkdir(join(home, 'archives/partial'), { recursive: true });
  // This apt knows no installed package, so it downloads every dependency.
  await writeFile(join(home, 'status'), '');
  await writeFile(join(home, 'apt.conf'), configuration(home));
  return runApt(['--config-file', join(home, 'apt.conf')]);
}

// The sandbox user could not write below the repository; the hooks would act on the machine's own apt.
const configuration = (home: string) => `
Dir::State "${home}";
Dir::State::lists "${home}/lists";
Dir::State::status "${home}/status";
Dir::Cache "${home}";
Dir::Cache::archives "${home}/archives";
Dir::Etc::preferences "-";
Dir::Etc::preferencesparts "-";
Debug::NoLocking "1";
APT::Sandbox::User "root";
APT::Install-Recommends "false";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
#clear APT::Default-Release;
#clear APT::Update;
#clear DPkg;
`;

/** Restricts `apt` to the suite and downloads its index. */
async function useSuite(apt: Apt, home: string, suite: string): Promise<Apt> {
  let targets = await indexTargets(runApt([]));
  if (targets.length === 0) {
    // A fresh container image has sources but no lists, and apt names only sources with lists.
    await apt('update');
    targets = await indexTargets(apt);
  }
  const archive = targets.find(({ release }) => !release.includes('-'));
  if (archive === undefined) throw new Error('apt knows no Debian or Ubuntu mirror');
  const wanted = suite === 'own' ? targets : [{ ...archive, release: suite, component: 'main' }];
  const lines = wanted.map(
    ({ uri, release, component }) => `deb ${signedBy()}${uri} ${release} ${component}\n`,
  );
  await writeFile(join(home, 'sources.list'), lines.join(''));
  const sources = [`Dir::Etc::sourcelist=${home}/sources.list`, 'Dir::Etc::sourceparts=-'];
  const restricted: Apt = (...args) => apt(...sources.flatMap((option) => ['-o', option]), ...args);
  await restricted('update');
  return restricted;
}

async function indexTargets(apt: Apt): Promise<{ uri: string; release: string; component: string }[]> {
  const format = '$(ORIGIN)\t$(REPO_URI)\t$(RELEASE)\t$(COMPONENT)';
  const lines = (await apt('indextargets', '--format', format, 'Created-By: Packages')).split('\n');
  return lines.flatMap((line) => {
    const [origin, uri, release, component] = line.split('\t');
    return /^(Debian|Ubuntu)$/.test(origin ?? '') && uri && release && component
      ? [{ uri, release, component }]
      : [];
  });
}

function runApt(defaults: string[]): Apt {
  return async (...args) => {
    const options = { timeout: 10 * 60_000, maxBuffer: 1e8, env: { ...process.env, LC_ALL: 'C' } };
    const running = execute('apt-get', [...defaults, ...args], options);
    const { stdout } = await running.catch((error) => {
      throw new Error(`apt-get: ${error.stderr?.trim() || error.message}`, {
        cause: error,
      });
    });
    return stdout;
  };
}

// In newer releases apt does not find the archive's keys without this option.
function signedBy(): string {
  const keyring = `/usr/share/keyrings/${isUbuntu() ? 'ubuntu' : 'debian'}-archive-keyring.gpg`;
  return existsSync(keyring) ? `[signed-by=${keyring}] ` : '';
}
