import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type FaultProxy, startFaultProxy } from '../http/fault-proxy.js';
import { pythonWithRequests } from './python.js';
import { SHOW } from './show.js';

export const DOCUMENT = 'docs/clients.md';
/** They lie beside each example. */
const FILES = 'docs/clients';
/** They read a list; the others follow its changes. */
export const READERS = ['Pages', 'Cache', 'Python', 'axios', 'ky', 'TanStack Query', 'SWR', 'React'];
export const FOLLOWERS = ['Apollo Client', 'graphql-sse', 'urql', 'EventSource', 'curl', 'REST'];

const ADDRESS = 'http://127.0.0.1:4000';
const OUT = 'compiled';
/** Later the example ends, even if this process was killed before it could end it. */
const LONGEST_SECONDS = '240';

/** A block of code of the document. */
interface Example {
  client: string;
  language: string;
  code: string;
}

/** The examples of the document in one folder, compiled. */
export class Examples {
  #runs: ExampleRun[] = [];

  private constructor(
    readonly folder: string,
    readonly all: readonly Example[],
    /** The compiler's output; empty if the types are right. */
    readonly problems: string,
  ) {}

  static async compileIn(folder: string): Promise<Examples> {
    const text = await readFile(DOCUMENT, 'utf8');
    const blocks = text.matchAll(/^## ([^\n]+)$|^```(\w+)\n(.*?)^```$/gms);
    const all: Example[] = [];
    let client = '';
    for (const [, heading, language = '', code = ''] of blocks) {
      if (heading) client = heading;
      else all.push({ client, language, code });
    }
    await symlink(resolve('node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    for (const example of all) {
      const own = join(folder, folderOf(example));
      await cp(FILES, own, { recursive: true });
      await writeFile(join(own, `example.${example.language}`), example.code);
    }
    const compilerOptions = {
      rootDir: '.',
      outDir: OUT,
      incremental: false,
      sourceMap: false,
      jsx: 'react-jsx',
    };
    const tsconfig = { extends: resolve('tsconfig.json'), compilerOptions, include: ['.'] };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
    const compiler = promisify(execFile)(resolve('node_modules/.bin/tsc'), ['-p', folder]);
    const { stdout } = await compiler.catch((error) => error);
    return new Examples(folder, all, stdout);
  }

  /** Copies the example into a new folder, and starts a proxy before the gateway for it. */
  async prepare(
    client: string,
    options: { name: string; port: number; cuts?: string[] },
  ): Promise<ExampleRun> {
    const example = this.all.find((each) => each.client === client);
    if (!example) throw new Error(`${DOCUMENT} has no example for ${client}`);
    const proxy = await startFaultProxy(options.port);
    const name = folderOf(example);
    const home = join(this.folder, `${name}-${options.name}`);
    const isShell = example.language === 'sh' || example.language === 'python';
    await cp(isShell ? join(this.folder, name) : join(this.folder, OUT, name), home, { recursive: true });
    for (const name of await readdir(home)) {
      const code = await readFile(join(home, name), 'utf8');
      await writeFile(join(home, name), code.replaceAll(ADDRESS, `http://127.0.0.1:${proxy.port}`));
    }
    if (example.language === 'tsx') await writeFile(join(home, 'show.js'), SHOW);
    const run = new ExampleRun(example, home, proxy, options.cuts ?? []);
    await run.watch();
    this.#runs.push(run);
    return run;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#runs.map((run) => run.stop()));
  }
}

/** An example that runs: once, or several times after each other. */
export class ExampleRun {
  /** Of both streams. */
  output = '';
  /** Whether the head of a stream, or a page of changes, has come. */
  isFollowing = false;
  /** The statuses of the answers that came through the proxy. */
  readonly statuses: number[] = [];
  /** The texts that the connection was cut at. */
  readonly cuts: string[] = [];
  /** Null while it runs. */
  exitCode: number | null = null;
  #child: ChildProcess | undefined;

  constructor(
    readonly example: Example,
    readonly folder: string,
    readonly proxy: FaultProxy,
    /** Where the connection will be cut: first within this text, then behind the next. */
    readonly dueCuts: readonly string[],
  ) {}

  get client(): string {
    return this.example.client;
  }

  /** The changes that it has printed, in one form for all: `CREATED Rex 1`. */
  get printed(): string[] {
    const lines = this.output.matchAll(/(CREATED|UPDATED|DELETED)\b.*?(Rex \d)/gi);
    return [...lines].map(([, kind = '', name]) => `${kind.toUpperCase()} ${name}`);
  }

  /** Where it finds the gateway. */
  get url(): string {
    return `http://127.0.0.1:${this.proxy.port}`;
  }

  refusals(status: number): number {
    return this.statuses.filter((each) => each === status).length;
  }

  async watch(): Promise<void> {
    await this.proxy.set({ ofAnswer: (bytes, { client, server }) => this.#pass(bytes, client, server) });
  }

  async start(apiKey: string): Promise<void> {
    const { command, env } = await programOf(this.example);
    this.exitCode = null;
    const child = spawn('timeout', [LONGEST_SECONDS, ...command], {
      cwd: this.folder,
      // Starts a process group: to end the shell alone would not end its `curl`.
      detached: true,
      env: { ...process.env, ...env, API_KEY: apiKey },
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
      });
    }
    child.once('close', (code) => {
      this.exitCode = code;
    });
  }

  /** Runs to its end. Returns the output. */
  async finish(apiKey: string): Promise<string> {
    this.output = '';
    await this.start(apiKey);
    await once(this.#child as ChildProcess, 'close');
    return this.output;
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child?.pid && child.exitCode === null && child.signalCode === null) {
      process.kill(-child.pid, 'SIGKILL');
      await once(child, 'exit');
    }
    await this.proxy.stop();
  }

  /** Delivers bytes of an answer, until a cut is due. */
  #pass(bytes: Buffer, client: Socket, server: Socket): void {
    const text = bytes.toString('latin1');
    if (/text\/event-stream|multipart\/mixed|pets\/changes/i.test(text)) this.isFollowing = true;
    const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(text) ?? [];
    if (status) this.statuses.push(Number(status));
    const cut = this.dueCuts[this.cuts.length];
    const at = cut === undefined ? -1 : text.indexOf(cut);
    if (cut === undefined || at === -1) {
      client.write(bytes);
      return;
    }
    const isFirst = this.cuts.push(cut) === 1;
    server.pause();
    client.end(bytes.subarray(0, isFirst ? at + 2 : bytes.length), () => server.destroy());
  }
}

const folderOf = ({ client }: Example) => client.replaceAll(' ', '-');

async function programOf({
  language,
}: Example): Promise<{ command: string[]; env?: Record<string, string> }> {
  if (language === 'sh') return { command: ['bash', 'example.sh'] };
  if (language === 'tsx') return { command: [process.execPath, 'show.js'] };
  if (language === 'ts') return { command: [process.execPath, 'example.js'] };
  const { file, args, env } = await pythonWithRequests();
  return { command: [file, ...args, 'example.python'], env };
}
