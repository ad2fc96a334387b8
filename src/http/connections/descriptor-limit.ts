import { readFileSync } from 'node:fs';

/** Where the system does not say it: the limit that most systems start with. */
const USUAL_LIMIT = 1_024;
/** For files, DNS, Redis, certificate authorities, and the runtime itself. */
const RESERVE = 100;
const FEWEST = 16;
const MOST = 10_000;

/** How many connections clients may have: what the limit of the process leaves beside its database and all else. */
export function defaultMaxConnections(databasePoolSize: number): number {
  const left = descriptorLimit() - databasePoolSize - RESERVE;
  return Math.max(FEWEST, Math.min(MOST, left));
}

/** Files and sockets that this process may have open. Node raises the soft limit to the hard one when it starts. */
function descriptorLimit(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return limit === undefined ? USUAL_LIMIT : Number(limit);
  } catch {
    return USUAL_LIMIT;
  }
}
