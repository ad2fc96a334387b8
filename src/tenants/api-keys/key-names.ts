import { In } from 'typeorm';
import type { Database } from '../../ground/database/database.js';
import { ApiKey } from './api-key.entity.js';

/** How people recognize a key. */
export interface KeyName {
  name: string;
  /** The first characters of its token. */
  prefix: string;
}

/** Reads the names of a project's keys, including keys that were revoked or expired: keys are never deleted. */
export class KeyNames {
  constructor(private readonly db: Database) {}

  /** By the key's id, without the keys of other projects. One statement, none without ids. */
  async of(projectId: bigint, ids: Iterable<bigint>): Promise<ReadonlyMap<bigint, KeyName>> {
    const distinct = [...new Set(ids)];
    if (distinct.length === 0) return new Map();
    const keys = await this.db.repository(ApiKey).find({
      select: { id: true, name: true, prefix: true },
      where: { projectId, id: In(distinct) },
    });
    return new Map(keys.map(({ id, name, prefix }) => [id, { name, prefix }]));
  }
}
