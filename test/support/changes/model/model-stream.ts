import type { Batch, ModelLog, ModelProject } from './model-log.js';

/** A stream between a server and a subscriber. The server looks at the log when it is woken. */
export class ModelStream {
  /** The subscriber has not read these yet. */
  readonly batches: Batch[] = [];
  private isAwake = true;
  private isLooking = false;
  private isWoken = false;

  constructor(
    private readonly log: ModelLog,
    private readonly project: ModelProject,
    private cursor: string,
    private readonly status: string | null,
  ) {
    const changes = log.greeting(project, cursor);
    if (changes.length > 0) this.batches.push({ changes, examined: cursor });
  }

  /** Returns false when the server waits for a wake. */
  serve(): boolean {
    if (!this.isAwake) return false;
    if (this.isLooking) this.rest();
    else this.look();
    return true;
  }

  wake(): void {
    if (this.isLooking) this.isWoken = this.log.hearsWakeWhileLooking();
    else this.isAwake = true;
  }

  private look(): void {
    this.isLooking = true;
    this.isWoken = false;
    const batch = this.log.changes(this.project, this.cursor, this.status);
    if (batch?.examined === this.cursor) return;
    this.batches.push(batch);
    this.cursor = batch?.examined ?? this.cursor;
    this.isWoken = batch !== null;
  }

  private rest(): void {
    this.isLooking = false;
    this.isAwake = this.isWoken;
  }
}
