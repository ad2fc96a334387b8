import type { Caller } from '../../ground/kernel/caller.js';
import type { EventLoopTurns } from '../../ground/scheduling/event-loop-turns.js';
import { RoundRobin } from '../../ground/scheduling/event-loop-turns.js';

/** A project that executes a long read, or pauses after one. */
interface Busy {
  /** Keyed by API key. */
  waiting: RoundRobin<bigint, () => void>;
  beganAt: number;
}

/** The longest pause, for reads that waited for the database. */
const MAX_PAUSE_MS = 300;

/**
 * Lets a project execute one long read of management or of the schema at a time, followed by a pause as long as the read.
 * So a project's long reads use at most half of the processor, for any number of keys. Its keys are served in rotation,
 * so the owner waits for one read of each other key. D-13.
 */
export class LongReads {
  private readonly projects = new Map<bigint, Busy>();

  constructor(private readonly turns: EventLoopTurns) {}

  /** Resolves when the read may begin; call `finishRead` after it. */
  async startRead({ projectId, keyId }: Caller): Promise<void> {
    const other = this.projects.get(projectId);
    const busy = other ?? { waiting: new RoundRobin(), beganAt: 0 };
    this.projects.set(projectId, busy);
    if (other) await new Promise<void>((resolve) => other.waiting.add(keyId, resolve));
    await this.turns.next(projectId);
    busy.beganAt = performance.now();
  }

  finishRead({ projectId }: Caller): void {
    const { beganAt = 0 } = this.projects.get(projectId) ?? {};
    const pauseMs = Math.min(performance.now() - beganAt, MAX_PAUSE_MS);
    const goOn = () => {
      const next = this.projects.get(projectId)?.waiting.takeNext();
      if (next) next();
      else this.projects.delete(projectId);
    };
    setTimeout(goOn, pauseMs).unref();
  }
}
