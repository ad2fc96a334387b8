import { randomUUID } from 'node:crypto';
import type { DataVersions } from '../data-versions.js';
import { WRITING } from './charge-script.js';
import { projectSubject } from './subjects.js';

interface Stamped {
  /** Makes this the subject's version for everybody who shares the counters. Never throws. */
  stamp(subject: string, version: string): Promise<void>;
}

/**
 * The data versions of processes that share Redis, where they are read with every charge. When Redis is away nobody gets
 * a version, so nobody answers from memory; and who has lost the connection never believes what it knew before.
 */
export class SharedVersions implements DataVersions {
  constructor(private readonly limiter: Stamped) {}

  async change<T>(projectId: bigint, write: () => Promise<T>): Promise<T> {
    const subject = projectSubject(projectId);
    await this.limiter.stamp(subject, WRITING);
    try {
      return await write();
    } finally {
      await this.limiter.stamp(subject, randomUUID());
    }
  }
}
