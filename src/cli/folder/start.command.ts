import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
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
      const changes = watch('.', { recursive: true }, (_, name) => {
        if (name === null || !WATCHED.test(name) || UNWATCHED.test(name)) return;
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
      await once(changes, 'close');
      await restarts;
      output.exitCode = await exitOf(child);
    });
}

function runGateway(): ChildProcess {
  return spawn(process.execPath, [RUN], { stdio: 'inherit' });
}

async function exitOf(child: ChildProcess): Promise<number> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode ?? 1;
}
