import type { Config } from '../ground/config/config.js';
import { openProblem } from '../ground/database/database-errors.js';
import { AppError } from '../ground/kernel/errors.js';

type StartError = NodeJS.ErrnoException & { port?: number; address?: string; hostname?: string };

/** The reason why the gateway could not start, in one line. It names the setting and shows no password. */
export function startProblem(error: unknown, config: Config): string {
  if (error instanceof AppError) return error.message;
  const { code, port, address, hostname } = error as StartError;
  const { host, metricsHost, database } = config;
  if (port !== undefined) {
    const name = settingOf(port, config);
    const forAny = name === 'PORT' ? 'for any free port' : 'to switch it off';
    if (code === 'EADDRINUSE') {
      return `Port ${port} is in use. Set ${name} to another port, or to 0 ${forAny}.`;
    }
    if (code === 'EACCES') return `The process may not use port ${port}. Set ${name} to a port above 1023.`;
  }
  const place = hostname ?? address;
  const isUnknown = code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND';
  if (isUnknown && (place === host || place === metricsHost)) {
    const name = place === host ? 'HOST' : 'METRICS_HOST';
    return `${place} is not an address of this machine. Correct ${name}.`;
  }
  return `The gateway could not start with the database ${openProblem(database, error)}. Check DATABASE_URL.`;
}

function settingOf(taken: number, { port, metricsPort, httpsPort }: Config): string {
  if (taken === port) return 'PORT';
  return taken === metricsPort ? 'METRICS_PORT' : taken === httpsPort ? 'HTTPS_PORT' : 'PORT';
}
