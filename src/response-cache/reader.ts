import type { Caller } from '../caller.js';
import type { Decision, Standing } from '../rate-limit/decision.js';

const rights = new WeakMap<Caller, string>();

/**
 * Under what the answers to a request may be kept: the project, what its key may do, and the version of the data that
 * came with its admission. Null = it must not be answered from memory.
 */
export function readerOf(caller: Caller | null, standing: Standing | Decision | null): string | null {
  if (!caller || !standing || !('admitted' in standing) || !standing.admitted) return null;
  return standing.dataVersion === null ? null : `${standing.dataVersion} ${rightsOf(caller)}`;
}

function rightsOf(caller: Caller): string {
  const known = rights.get(caller);
  if (known !== undefined) return known;
  const text = `${caller.projectId} ${[...caller.scopes].sort().join(',')}`;
  rights.set(caller, text);
  return text;
}
