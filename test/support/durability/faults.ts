import { eventually } from '../eventually.js';
import type { StatementFault } from './statement-trap.js';
import type { Fault } from './sweep.js';

/** SQLite's log of writes: a head, then frames of a head and a page. */
const FRAME_HEAD_BYTES = 24;
const FRAME_BYTES = FRAME_HEAD_BYTES + 4_096;
const HEAD_BYTES = 32;
const DAY_MS = 86_400_000;
const CLOCKS_MS = [DAY_MS, 0, -DAY_MS, 0];

/** MySQL: a statement is executed or refused, and its answer is lost, late or an error. */
export const onStatement = (fault: StatementFault, isForCommits = false): Fault => ({
  isNeverDone: fault === 'full',
  async arm({ trap }, place) {
    trap?.set(fault, place, isForCommits);
  },
  async lift(gateway) {
    const isMet = gateway.trap?.release() ?? false;
    await gateway.ready();
    return isMet;
  },
});

/** MySQL: a COMMIT is rolled back with the error, because another node committed first. */
export const conflict = (code: number, message?: string): Fault => ({
  ...onStatement(message === undefined ? { code } : { code, message }, true),
  isNeverDone: true,
  isRepeated: true,
});

/** SQLite: the disk is full at one of the pages that its log of writes gets, from the first on. */
export const fullDisk: Fault = {
  isNeverDone: true,
  async arm(gateway, place) {
    // With an empty log of writes, a place is the same for each write.
    await eventually('an empty log', async () => {
      const [row] = await gateway.query('PRAGMA wal_checkpoint(TRUNCATE)');
      return Number(row?.busy) === 0;
    });
    gateway.boundFiles(HEAD_BYTES + (place - 1) * FRAME_BYTES + FRAME_HEAD_BYTES);
  },
  async lift(gateway, outcomes) {
    gateway.boundFiles(null);
    await gateway.ready();
    return outcomes.some(({ kind }) => kind !== 'done');
  },
};

/** The process is killed behind a statement, before it knows the answer on MySQL, and starts again. */
export const killed: Fault = {
  isNeverDone: false,
  async arm(gateway, place) {
    if (gateway.trap) gateway.trap.set(() => gateway.kill('SIGKILL'), place);
    else await gateway.order({ killedBehindStatement: place });
  },
  async lift(gateway) {
    const isCaught = gateway.trap?.release() ?? false;
    if (!isCaught) await gateway.order({ killedBehindStatement: null });
    if (!isCaught && !gateway.hasEnded) return false;
    await gateway.ended();
    await gateway.begin();
    return true;
  },
};

/** Another program has the lock until the writes were answered. A single place. */
export function locked(): Fault {
  let release: (() => Promise<void>) | null = null;
  return {
    isNeverDone: true,
    async arm(gateway) {
      release = await gateway.lock();
    },
    async lift(gateway) {
      await release?.();
      await gateway.ready();
      return false;
    },
  };
}

/** The clock of the process is a day ahead, right, a day behind, and right again. */
export function wrongClock(): Fault {
  let left = 0;
  return {
    isNeverDone: true,
    async arm(gateway, place) {
      left = CLOCKS_MS.length - place;
      await gateway.order({ clockAheadMs: Number(CLOCKS_MS[place - 1]) });
    },
    async lift() {
      return left > 0;
    },
  };
}
