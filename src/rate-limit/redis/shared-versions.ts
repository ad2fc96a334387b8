import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DataVersions, VERSION_MS } from '../../kernel/data-versions.js';
import { projectSubject } from '../rules/subjects.js';
import { WRITING } from './charge-script.js';
import type { ResilientLimiter } from './resilient-limiter.js';

/** Redis expires versions in whole milliseconds, by its own clock. */
const MARGIN_MS = 20;

/**
 * The data versions of processes that share Redis; every charge reads them. A process that loses the connection gets no
 * version, serves nothing from its cache, and later discards the versions it knew.
 *
 * Other processes may still have a version, or get it again, without knowing of a write here. So a write that could not
 * be announced is acknowledged only after every earlier version has expired. D-39.
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
