import { type ApolloServerPlugin, HeaderMap } from '@apollo/server';
import type { Caller } from '../caller.js';
import type { Context } from './context.js';
import { RoundRobin } from './round-robin.js';
import type { Turns } from './turns.js';

/** A project that executes a read, or pauses after one. */
interface Busy {
  /** By key. */
  waiting: RoundRobin<bigint, () => void>;
  beganAt: number;
}

/** After a read that waited for the database. */
const MAX_PAUSE_MS = 300;

/** Nobody reads it. */
const NOTHING = { kind: 'single' as const, singleResult: {} };

/**
 * Lets a project execute one long read of management at a time, and pauses as long as the read took: its long reads use
 * half of the processor at most, whatever the number of its keys. The keys take turns, so that the owner waits for one read
 * of each other key. A read whose client has an answer, or has left, is not executed.
 */
export function longReads(turns: Turns): ApolloServerPlugin<Context> {
  const reads = new LongReads();
  return {
    async requestDidStart() {
      return {
        // The last step before execution, and this plugin is the last: what begins here is executed, and ends.
        async responseForOperation({ contextValue: { isLong, caller, isOver } }) {
          if (!isLong) return null;
          await reads.begin(caller, turns);
          if (!isOver()) return null;
          reads.end(caller);
          return { http: { status: 503, headers: new HeaderMap() }, body: NOTHING };
        },
        async executionDidStart({ contextValue: { isLong, caller } }) {
          return isLong ? { executionDidEnd: async () => reads.end(caller) } : undefined;
        },
      };
    },
  };
}

class LongReads {
  private readonly projects = new Map<bigint, Busy>();

  /** Resolves when the read may begin, which `end` must follow. */
  async begin({ projectId, keyId }: Caller, turns: Turns): Promise<void> {
    const busy = this.projects.get(projectId);
    if (busy) await new Promise<void>((resolve) => busy.waiting.add(keyId, resolve));
    else this.projects.set(projectId, { waiting: new RoundRobin(), beganAt: 0 });
    await turns.next(projectId);
    const executing = this.projects.get(projectId);
    if (executing) executing.beganAt = performance.now();
  }

  end({ projectId }: Caller): void {
    const { beganAt = 0 } = this.projects.get(projectId) ?? {};
    const pauseMs = Math.min(performance.now() - beganAt, MAX_PAUSE_MS);
    setTimeout(() => this.goOn(projectId), pauseMs).unref();
  }

  private goOn(projectId: bigint): void {
    const next = this.projects.get(projectId)?.waiting.take();
    if (next) next();
    else this.projects.delete(projectId);
  }
}
