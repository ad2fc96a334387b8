import { readFileSync } from 'node:fs';

/** For systems that do not report a limit: the default of most systems. */
const USUAL_LIMIT = 1_024;
/** Descriptors for files, DNS, Redis, certificate authorities, and the runtime itself. */
const RESERVE = 100;
const FEWEST = 16;
const MOST = 10_000;

/**
 * How many client connections may be open: the descriptors of the process minus those for its database and everything
 * else.
 */
export function defaultMaxConnections(databasePoolSize: number): number {
  const left = descriptorLimit() - databasePoolSize - RESERVE;
  return Math.max(FEWEST, Math.min(MOST, left));
}

/** How many files and sockets this process may open. Node raises the soft limit to the hard one at start. */
function descriptorLimit(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return limit === undefined ? USUAL_LIMIT : Number(limit);
  } catch {
    return USUAL_LIMIT;
  }
}
