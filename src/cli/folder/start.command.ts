import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { gatewayFile } from '../nearest-gateway.js';
import type { Output } from '../output.js';

const RUN = fileURLToPath(new URL('./run.js', import.meta.url));
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** An editor writes a file in several steps. */
const SETTLE_MS = 50;
const WATCHED = /\.[cm]?[jt]s$/;
const UNWATCHED = /(^|[\\/])(node_modules|var|\.[^\\/]*)([\\/]|$)|\.test\.[jt]s$/;

export function startCommand(program: Command, output: Output): void {
  program
    .command('start')
    .description(
      'Serve the gateway of this folder: its gateway.ts or gateway.js. Settings are environment variables.',
    )
    .addHelpText('after', '\nExample:\n  $ PORT=8080 petstore start')
    .action(async () => {
      const child = runGateway();
      for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
      output.exitCode = await exitOf(child);
    });
}

export function devCommand(program: Command, output: Output): void {
  program
    .command('dev')
    .description('As start, and start again after each change of a file.')
    .addHelpText('after', '\nExample:\n  $ petstore dev')
    .action(async () => {
      let child = runGateway();
      let restarts = Promise.resolve();
      const restart = async () => {
        output.note('A file has changed: the gateway starts again.');
        // As Ctrl-C, which waits for no load balancer.
        child.kill('SIGINT');
        await exitOf(child);
        if (!isEnding) child = runGateway();
      };
      let isEnding = false;
      let settling: NodeJS.Timeout | undefined;
      const changes = new Changes(dirname(gatewayFile('') ?? resolve('package.json')), () => {
        clearTimeout(settling);
        settling = setTimeout(() => {
          restarts = restarts.then(restart);
        }, SETTLE_MS);
      });
      for (const signal of SIGNALS) {
        process.on(signal, () => {
          isEnding = true;
          clearTimeout(settling);
          changes.close();
          child.kill(signal);
        });
      }
      await changes.closed;
      await restarts;
      output.exitCode = await exitOf(child);
    });
}

/** The author's files. The packages beside them are thousands of files, and each would be watched. */
class Changes {
  private readonly watchers = new Map<string, FSWatcher>();
  private end = () => {};
  readonly closed = new Promise<void>((resolve) => {
    this.end = resolve;
  });

  constructor(
    private readonly folder: string,
    private readonly onChange: () => void,
  ) {
    this.watch('', false);
    this.watchFolders();
  }

  close(): void {
    for (const watcher of this.watchers.values()) watcher.close();
    this.end();
  }

  private watchFolders(): void {
    for (const entry of readdirSync(this.folder, { withFileTypes: true })) {
      if (entry.isDirectory() && !UNWATCHED.test(entry.name)) this.watch(entry.name, true);
    }
  }

  private watch(name: string, recursive: boolean): void {
    if (this.watchers.has(name)) return;
    const watcher = watch(join(this.folder, name), { recursive }, (_, changed) => {
      // It can be a new folder.
      if (name === '') this.watchFolders();
      if (changed === null || !WATCHED.test(changed) || UNWATCHED.test(changed)) return;
      this.onChange();
    });
    // The folder is gone.
    watcher.on('error', () => {
      watcher.close();
      this.watchers.delete(name);
    });
    this.watchers.set(name, watcher);
  }
}

function runGateway(): ChildProcess {
  return spawn(process.execPath, [RUN], { stdio: 'inherit' });
}

async function exitOf(child: ChildProcess): Promise<number> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode ?? 1;
}
