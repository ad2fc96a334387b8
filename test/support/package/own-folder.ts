import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../eventually.js';

const run = promisify(execFile);
const INSTALL = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];

export interface Packed {
  /** The file that `npm publish` would send. */
  readonly file: string;
  readonly sizeBytes: number;
  readonly paths: string[];
}

/** Packs this repository into `folder`, as `npm run build` has left it. */
export async function pack(folder: string, from = '.'): Promise<Packed> {
  // A build would take away the files that the tests beside it run.
  const options = ['--ignore-scripts', '--json', '--pack-destination', folder];
  const result = JSON.parse((await run('npm', ['pack', ...options], { cwd: from })).stdout);
  const [{ filename, size, files }] = Array.isArray(result) ? result : Object.values(result);
  const paths = files.map(({ path }: { path: string }) => path);
  return { file: join(folder, filename), sizeBytes: size, paths };
}

/** The same package with another version. */
export async function withVersion(packed: Packed, version: string, folder: string): Promise<Packed> {
  await run('tar', ['-xzf', packed.file, '-C', folder]);
  const manifest = join(folder, 'package', 'package.json');
  const { scripts: _, ...stated } = JSON.parse(await readFile(manifest, 'utf8'));
  await writeFile(manifest, JSON.stringify({ ...stated, version }));
  const from = join(folder, `package-${version}`);
  await rename(join(folder, 'package'), from);
  return pack(folder, from);
}

interface Running {
  readonly url: string;
  /** Of the demo project; null = it was printed before. */
  readonly apiKey: string | null;
  output(): string;
  /** Ends it as Ctrl-C does, and resolves with its exit code. */
  stop(): Promise<number | null>;
}

/** The folder of somebody who depends on the package. */
export class OwnFolder {
  private constructor(
    readonly path: string,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  static async create(): Promise<OwnFolder> {
    const path = await mkdtemp(join(tmpdir(), 'petstore-own-'));
    // Otherwise npm takes a folder above for the one of the project.
    await writeFile(join(path, 'package.json'), '{ "name": "acme-books" }');
    const { DATABASE_URL: _, REDIS_URL: __, ...env } = process.env;
    return new OwnFolder(path, env);
  }

  /** A copy of a folder of this repository, whose package is this repository as it is built. */
  static async copyOf(folder: string): Promise<OwnFolder> {
    const own = await OwnFolder.create();
    await cp(folder, own.path, { recursive: true });
    const packages = join(own.path, 'node_modules');
    await mkdir(join(packages, '.bin'), { recursive: true });
    await symlink(resolve('.'), join(packages, 'petstore-gateway'));
    await symlink(resolve('node_modules/typescript'), join(packages, 'typescript'));
    const program = `#!/bin/sh\nexec '${process.execPath}' '${resolve('dist/src/cli/main.js')}' "$@"\n`;
    await writeFile(join(packages, '.bin', 'petstore'), program, { mode: 0o755 });
    return own;
  }

  /** The same folder with these settings. */
  with(settings: Record<string, string>): OwnFolder {
    return new OwnFolder(this.path, { ...this.env, ...settings });
  }

  async install({ file }: Packed): Promise<void> {
    await run('npm', [...INSTALL, file], { cwd: this.path, env: this.env });
  }

  /** Runs `petstore`, and resolves with its output; rejects unless it exits with 0. */
  async petstore(...args: string[]): Promise<string> {
    return (await this.run(join('node_modules', '.bin', 'petstore'), ...args)).stdout;
  }

  run(program: string, ...args: string[]) {
    return run(program, args, { cwd: this.path, env: this.env });
  }

  async start(command = 'start'): Promise<Running> {
    const env = { ...this.env, PORT: '0', LOG_LEVEL: 'error' };
    const child = spawn(join('node_modules', '.bin', 'petstore'), [command], { cwd: this.path, env });
    const ended = once(child, 'exit');
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    const greeted = () => / listens on (http:\S+)[\s\S]*REST/.exec(output)?.[1];
    const url = await eventually(
      'a greeting',
      () => greeted() ?? (child.exitCode !== null && output),
      60_000,
    );
    if (greeted() === undefined) throw new Error(output);
    return {
      url,
      apiKey: /pk_\w+/.exec(output)?.[0] ?? null,
      output: () => output,
      async stop() {
        child.kill('SIGINT');
        await ended;
        return child.exitCode;
      },
    };
  }

  /** The files of the author. */
  async files(): Promise<Map<string, string>> {
    const names = (await readdir(this.path, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(this.path.length + 1))
      .filter((name) => !/^(node_modules|var)\/|^package-lock\.json$/.test(name));
    return new Map(
      await Promise.all(names.toSorted().map(async (name) => [name, await this.read(name)] as const)),
    );
  }

  read(name: string): Promise<string> {
    return readFile(join(this.path, name), 'utf8');
  }

  write(name: string, text: string): Promise<void> {
    return writeFile(join(this.path, name), text);
  }

  remove(): Promise<void> {
    return rm(this.path, { recursive: true, force: true });
  }
}
