import type { Config } from './config.js';
import { openProblem } from './database/open-problem.js';

/** As `listen` and the drivers reject. */
type StartError = NodeJS.ErrnoException & { port?: number; address?: string; hostname?: string };

/** Why the gateway could not start, in one line that names the setting and shows no password. */
export function startProblem(error: unknown, config: Config): string {
  const { code, port, address, hostname } = error as StartError;
  const { host, metricsHost, database } = config;
  if (port !== undefined) {
    const name = settingOf(port, config);
    const forAny = name === 'PORT' ? 'for any' : 'for none';
    if (code === 'EADDRINUSE') {
      return `Port ${port} is in use. Set ${name} to another one, or to 0 ${forAny}.`;
    }
    if (code === 'EACCES') return `Port ${port} may not be used. Set ${name} to one above 1023.`;
  }
  const place = hostname ?? address;
  const isUnknown = code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND';
  if (isUnknown && (place === host || place === metricsHost)) {
    const name = place === host ? 'HOST' : 'METRICS_HOST';
    return `${place} is no address of this machine. Correct ${name}.`;
  }
  return `The gateway could not start with the database ${openProblem(database, error)}. Check DATABASE_URL.`;
}

function settingOf(taken: number, { port, metricsPort, httpsPort }: Config): string {
  if (taken === port) return 'PORT';
  return taken === metricsPort ? 'METRICS_PORT' : taken === httpsPort ? 'HTTPS_PORT' : 'PORT';
}
