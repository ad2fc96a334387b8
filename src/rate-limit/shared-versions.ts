import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DataVersions, VERSION_MS } from '../data-versions.js';
import { WRITING } from './charge-script.js';
import type { ResilientLimiter } from './resilient-limiter.js';
import { projectSubject } from './subjects.js';

/** Redis counts the life of a version in whole milliseconds, by a clock of its own. */
const MARGIN_MS = 20;

/**
 * The data versions of processes that share Redis, where they are read with every charge. Who has lost the connection gets
 * no version, answers nothing from memory, and never believes what it knew before.
 *
 * But others may still have it, or have it again, and know nothing of what is written here: a write that could not be
 * announced is acknowledged when every version from before it has run out.
 */
export class SharedVersions implements DataVersions {
  constructor(private readonly limiter: Pick<ResilientLimiter, 'stamp'>) {}

  async change<T>(projectId: bigint, write: () => Promise<T>): Promise<T> {
    const subject = projectSubject(projectId);
    await this.limiter.stamp(subject, WRITING);
    try {
      return await write();
    } finally {
      const isKnown = await this.limiter.stamp(subject, randomUUID());
      if (!isKnown) await sleep(VERSION_MS + MARGIN_MS);
    }
  }
}
