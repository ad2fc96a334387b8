import { rm } from 'node:fs/promises';
import { type Daemon, freePort } from './daemon.js';

/** A server that the test starts, or one that an environment variable names. */
export interface OwnServer {
  /** Resolves when the signal has taken effect. Rejects when the test did not start the server. */
  kill(signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /** Restarts it on the same port; resolves when it answers. Rejects when the test did not start it. */
  restart(): Promise<void>;
  /** Ends the server and removes its data, if the test started it. */
  stop(): Promise<void>;
}

interface OwnProgram {
  /** Removed at the end. */
  home: string;
  daemon(port: number): Daemon;
  /** Rejects until this server answers at the port; with `anotherAnswers` when another server does. */
  probe(port: number): Promise<void>;
  /** Ends the server before a restart. */
  restartSignal: 'SIGKILL' | 'SIGTERM';
}

/** Starts the program on a free port, and on another one when the port is taken meanwhile. */
export async function runOwnServer(program: OwnProgram): Promise<OwnServer & { port: number }> {
  let port = await freePort();
  const start = async () => {
    const daemon = program.daemon(port);
    try {
      await daemon.waitUntil(() => program.probe(port));
      return daemon;
    } catch (error) {
      await daemon.kill('SIGKILL');
      throw error;
    }
  };
  const remove = () => rm(program.home, { recursive: true, force: true });
  let daemon = await start().catch(async (error) => {
    if (/Address already in use|Another server answers/.test(error.message)) {
      port = await freePort();
      return start();
    }
    await remove();
    throw error;
  });
  return {
    port,
    kill: (signal) => daemon.kill(signal),
    restart: async () => {
      await daemon.kill(program.restartSignal);
      daemon = await start();
    },
    stop: async () => {
      await daemon.kill('SIGKILL');
      await remove();
    },
  };
}

/** The server that the environment variable names. Rejects when `probe` does. */
export async function givenServer(variable: string, probe: () => Promise<void>): Promise<OwnServer> {
  await probe().catch((error) => {
    throw new Error(`${variable} is set but its server does not answer: ${error.message}`, { cause: error });
  });
  const refuse = async () => {
    throw new Error(
      `This test ends and restarts its server, which it may not do to the one ${variable} names: unset it`,
    );
  };
  return { kill: refuse, restart: refuse, stop: async () => {} };
}

/** The server of another test took the port first. */
export function anotherAnswers(url: string): Error {
  return new Error(`Another server answers at ${url}`);
}
