import { isUnanswered, notStored, storageProblem } from './database-errors.js';

/** Between two probes. The last write is trusted for as long. */
const PROBE_EVERY_MS = 1_000;

/**
 * Whether writes are stored: by their outcomes, and by a probe when there was none for a second, or after a failure. Anybody
 * may ask at any rate, so all share a probe. D-234.
 */
export class Durability {
  private reason: string | null = null;
  private storedAtMs = performance.now();
  private probedAtMs = Number.NEGATIVE_INFINITY;
  private probing: Promise<void> | null = null;

  constructor(
    /** Stores something small. */
    private readonly probe: () => Promise<unknown>,
    /**
     * Whether a failed write stops the others until a probe is stored. On SQLite each failure replaces the connection, which
     * readers share.
     */
    private readonly isStopping: boolean,
  ) {}

  /** Runs a write, and notes its outcome. */
  async watch<T>(write: () => Promise<T>): Promise<T> {
    if (this.reason !== null && this.isStopping && (await this.problem()) !== null) {
      throw notStored(this.reason);
    }
    try {
      const result = await write();
      this.noteStored();
      return result;
    } catch (error) {
      this.reason = storageProblem(error) ?? this.reason;
      throw error;
    }
  }

  /** Why nothing can be stored at the moment; null = writes are stored. */
  async problem(): Promise<string | null> {
    const nowMs = performance.now();
    const knownAtMs = this.reason === null ? Math.max(this.storedAtMs, this.probedAtMs) : this.probedAtMs;
    if (nowMs - knownAtMs >= PROBE_EVERY_MS && this.probing === null) {
      this.probedAtMs = nowMs;
      this.probing = this.try().finally(() => {
        this.probing = null;
      });
    }
    await this.probing;
    return this.reason;
  }

  /** Another error, such as a held lock, tells nothing. */
  private async try(): Promise<void> {
    try {
      await this.probe();
      this.noteStored();
    } catch (error) {
      const silence = isUnanswered(error) ? 'it does not answer to a write' : null;
      this.reason = storageProblem(error) ?? silence ?? this.reason;
    }
  }

  private noteStored(): void {
    this.reason = null;
    this.storedAtMs = performance.now();
  }
}
