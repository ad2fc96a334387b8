import { type Config, ConfigError } from '../ground/config/config.js';
import { openProblem, unavailableIfDatabaseAway } from '../ground/database/database-errors.js';
import { AppError } from '../ground/kernel/errors.js';

type StartError = NodeJS.ErrnoException & { port?: number; hostname?: string };

/**
 * The reason why the gateway could not start, in one line. It names the setting and shows no password. A fault of a program,
 * such as of an own resolver, has its stack.
 */
export function startProblem(error: unknown, config: Config): string {
  if (error instanceof AppError || error instanceof ConfigError) return error.message;
  const { syscall, port, hostname } = error as StartError;
  const listener = listenersOf(config).find((own) =>
    syscall === 'listen' ? own.port === (port ?? 0) : own.host === hostname,
  );
  if (listener) return listenProblem(error as StartError, listener).join('. ');
  if (!unavailableIfDatabaseAway(error))
    return `The gateway could not start. ${(error as Error)?.stack ?? error}`;
  return `The gateway could not start with the database ${openProblem(config.database, error)}. Check DATABASE_URL.`;
}

export interface Listener {
  name: 'PORT' | 'HTTPS_PORT' | 'METRICS_PORT';
  port: number;
  host: string;
}

/** The ports on which the gateway listens. 0 = any free one, or off. */
export function listenersOf({ host, port, httpsPort, metricsHost, metricsPort }: Config): Listener[] {
  const all: Listener[] = [
    { name: 'PORT', port, host },
    { name: 'HTTPS_PORT', port: httpsPort, host },
    { name: 'METRICS_PORT', port: metricsPort, host: metricsHost },
  ];
  return all.filter(({ name, port }) => name === 'PORT' || port !== 0);
}

/** The reason why a port can't be bound, and the remedy. */
export function listenProblem(
  { code, message }: NodeJS.ErrnoException,
  { name, port, host }: Listener,
): [found: string, remedy: string] {
  const place = `${name} ${port} on ${host}`;
  switch (code) {
    case 'EADDRINUSE':
      return [`${place} is in use`, `Stop the program that listens there, or set ${name} to another port.`];
    case 'EACCES':
      return [`${place} is not allowed for this user`, `Set ${name} to a port above 1023.`];
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND': {
      const setting = name === 'METRICS_PORT' ? 'METRICS_HOST' : 'HOST';
      return [`${place} can't be bound: this machine has no such address`, `Correct ${setting}.`];
    }
    default:
      return [`${place} can't be bound: ${message}`, `Set ${name} to another port.`];
  }
}
