import { type ApolloServerPlugin, HeaderMap } from '@apollo/server';
import type { Caller } from '../../ground/kernel/caller.js';
import type { EventLoopTurns } from '../../ground/scheduling/event-loop-turns.js';
import { RoundRobin } from '../../ground/scheduling/round-robin.js';
import type { Context } from './execution/context.js';

/** A project that executes a long read, or pauses after one. */
interface Busy {
  /** Keyed by API key. */
  waiting: RoundRobin<bigint, () => void>;
  beganAt: number;
}

/** The longest pause, for reads that waited for the database. */
const MAX_PAUSE_MS = 300;

/** No client reads it. */
const NOTHING = { kind: 'single' as const, singleResult: {} };

/**
 * Lets a project execute one long read of management or of the schema at a time, followed by a pause as long as the read.
 * So a project's long reads use at most half of the processor, for any number of keys. Its keys are served in rotation,
 * so the owner waits for one read of each other key. A read is skipped if its client has a response or has disconnected. D-13.
 */
export function longReads(turns: EventLoopTurns): ApolloServerPlugin<Context> {
  const reads = new LongReads();
  return {
    async requestDidStart() {
      return {
        // The last step before execution, in the last plugin: every read that begins here is executed, and ends.
        async responseForOperation({ contextValue: { operation, caller, reply } }) {
          const isLong = operation?.isLong;
          if (operation?.isLarge && !isLong) await turns.next(caller.projectId);
          if (!isLong) return null;
          await reads.startRead(caller, turns);
          if (!reply.sent && !reply.raw.destroyed) return null;
          reads.finishRead(caller);
          return { http: { status: 503, headers: new HeaderMap() }, body: NOTHING };
        },
        async executionDidStart({ contextValue: { operation, caller } }) {
          return operation?.isLong ? { executionDidEnd: async () => reads.finishRead(caller) } : undefined;
        },
      };
    },
  };
}

class LongReads {
  private readonly projects = new Map<bigint, Busy>();

  /** Resolves when the read may begin; call `finishRead` after it. */
  async startRead({ projectId, keyId }: Caller, turns: EventLoopTurns): Promise<void> {
    const busy = this.projects.get(projectId);
    if (busy) await new Promise<void>((resolve) => busy.waiting.add(keyId, resolve));
    else this.projects.set(projectId, { waiting: new RoundRobin(), beganAt: 0 });
    await turns.next(projectId);
    const executing = this.projects.get(projectId);
    if (executing) executing.beganAt = performance.now();
  }

  finishRead({ projectId }: Caller): void {
    const { beganAt = 0 } = this.projects.get(projectId) ?? {};
    const pauseMs = Math.min(performance.now() - beganAt, MAX_PAUSE_MS);
    setTimeout(() => this.goOn(projectId), pauseMs).unref();
  }

  private goOn(projectId: bigint): void {
    const next = this.projects.get(projectId)?.waiting.takeNext();
    if (next) next();
    else this.projects.delete(projectId);
  }
}
