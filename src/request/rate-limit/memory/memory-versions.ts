import { type DataVersions, type NounVersions, VERSION_MS } from '../../../ground/kernel/data-versions.js';
import { projectSubject } from '../rules/subjects.js';

const MAX_STATES = 100_000;

interface State {
  /** Never issued twice, so that an evicted project can't return to an old version. */
  version: string;
  sinceMs: number;
  writes: number;
}

/**
 * The data versions of a process that writes alone. Bounded: the oldest project
 * is evicted, and later gets a new version.
 */
export class MemoryVersions implements NounVersions {
  private readonly states = new Map<string, State>();
  private given = 0;

  constructor(
    private readonly now: () => number,
    private readonly maxStates = MAX_STATES,
  ) {}

  /** The current version of the subject's data of a noun; null during a write. */
  current(subject: string, noun: string): string | null {
    const state = this.stateOf(`${subject} ${noun}`);
    if (state.writes > 0) return null;
    const ageMs = this.now() - state.sinceMs;
    return ageMs >= VERSION_MS || ageMs < 0 ? this.renewed(state).version : state.version;
  }

  of(noun: string): DataVersions {
    return { change: (projectId, write) => this.change(`${projectSubject(projectId)} ${noun}`, write) };
  }

  private async change<T>(data: string, write: () => Promise<T>): Promise<T> {
    const state = this.stateOf(data);
    state.writes += 1;
    try {
      return await write();
    } finally {
      state.writes -= 1;
      // The state may have been evicted and created again meanwhile.
      this.renewed(this.stateOf(data));
    }
  }

  private stateOf(data: string): State {
    const known = this.states.get(data);
    if (known) return known;
    if (this.states.size >= this.maxStates) this.states.delete(this.states.keys().next().value as string);
    const made = this.renewed({ version: '', sinceMs: 0, writes: 0 });
    this.states.set(data, made);
    return made;
  }

  private renewed(state: State): State {
    this.given += 1;
    state.version = String(this.given);
    state.sinceMs = this.now();
    return state;
  }
}
