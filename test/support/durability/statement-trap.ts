import { setTimeout as pause } from 'node:timers/promises';
import type { Distortion, Ends } from '../http/fault-proxy.js';
import { answeredAsMember, isStatement, mysqlError } from '../servers/mysql-distortions.js';

/** Longer than a statement may take. */
const LATE_MS = 2_600;
/** Within the time of a statement, and long enough for a write of another client. */
const SLOW_MS = 250;
const FULL: Refusal = { code: 1_114 };

/**
 * The fault of a statement.
 * `lost`: it is executed, and the connection ends instead of an answer.
 * `late`: it is executed, and its answer arrives after the gateway has given up.
 * `slow`: its answer arrives later, but in time.
 * `full`: the server refuses it, because its disk is full.
 * A refusal: the server answers with the error, and does not execute it.
 */
export type StatementFault = 'lost' | 'late' | 'slow' | 'full' | Refusal;

interface Refusal {
  code: number;
  message?: string;
}

/** Catches one statement to MySQL, the `at`-th from `set` on; or the `at`-th COMMIT. */
export class StatementTrap {
  readonly distortion: Distortion = {
    ofRequest: (bytes, ends) => this.ofRequest(bytes, ends),
    ofAnswer: (bytes, ends) => this.ofAnswer(bytes, ends),
  };
  private fault: StatementFault | (() => void) | null = null;
  private left = 0;
  private isForCommits = false;
  private readonly caught = new Map<Ends, StatementFault | (() => void)>();
  hasCaught = false;

  /** A function is called when the statement has been executed, and its answer is lost. */
  set(fault: StatementFault | (() => void), at: number, isForCommits = false): void {
    this.fault = fault;
    this.isForCommits = isForCommits;
    this.left = at;
    this.hasCaught = false;
  }

  /** Later statements pass. Returns whether one was caught. */
  release(): boolean {
    this.fault = null;
    return this.hasCaught;
  }

  private ofRequest(bytes: Buffer, ends: Ends): void {
    if (answeredAsMember(bytes, ends)) return;
    if (this.fault !== null && isStatement(bytes) && (!this.isForCommits || bytes.includes('COMMIT'))) {
      this.left -= 1;
      if (this.left === 0) {
        this.hasCaught = true;
        const refusal = this.fault === 'full' ? FULL : this.fault;
        if (typeof refusal === 'object') {
          ends.client.write(mysqlError(refusal.code, refusal.message));
          return;
        }
        this.caught.set(ends, this.fault);
      }
    }
    ends.server.write(bytes);
  }

  private ofAnswer(bytes: Buffer, ends: Ends): void {
    const fault = this.caught.get(ends);
    if (fault === undefined) {
      ends.client.write(bytes);
    } else if (fault === 'late' || fault === 'slow') {
      void pause(fault === 'late' ? LATE_MS : SLOW_MS).then(() => {
        this.caught.delete(ends);
        if (ends.client.writable) ends.client.write(bytes);
      });
    } else {
      this.caught.delete(ends);
      if (typeof fault === 'function') fault();
      ends.client.resetAndDestroy();
      ends.server.destroy();
    }
  }
}
