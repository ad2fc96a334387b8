import { Between, type EntityManager, IsNull, MoreThan, Or } from 'typeorm';
import type { Database } from '../../ground/database/database.js';
import type { Caller } from '../../ground/kernel/caller.js';
import { DAY_MS } from '../../ground/kernel/duration.js';
import { AppError } from '../../ground/kernel/errors.js';
import { ApiKey } from './api-key.entity.js';

export const MAX_VALID_KEYS = 100;
const ENDED_SHOWN_MS = 30 * DAY_MS;
/** Operators can exceed the limit: valid keys are listed before expired and revoked ones. */
export const MAX_KEYS_SHOWN = 2 * MAX_VALID_KEYS;

/** Throws `AppError conflict` if the project would have too many valid keys. */
export async function requireRoom(
  manager: EntityManager,
  { projectId }: Caller,
  { added, nowMs }: { added: number; nowMs: number },
): Promise<void> {
  const validKeys = await manager.countBy(ApiKey, { projectId, ...validAt(nowMs) });
  if (validKeys + added <= MAX_VALID_KEYS) return;
  const most = `A project may have ${MAX_VALID_KEYS} valid API keys`;
  throw new AppError('conflict', `${most}, and has ${validKeys}. Revoke a key that is not needed.`);
}

/** The project's keys, newest first, with those that ended within the last 30 days. */
export async function shownKeys(db: Database, { projectId }: Caller, nowMs: number): Promise<ApiKey[]> {
  const sinceMs = nowMs - ENDED_SHOWN_MS;
  const of = (where: readonly object[]) =>
    db.repository(ApiKey).find({
      where: where.map((condition) => ({ projectId, ...condition })),
      order: { id: 'DESC' },
      take: MAX_KEYS_SHOWN,
    });
  const expired = { revokedAtMs: IsNull(), expiresAtMs: Between(sinceMs + 1, nowMs) };
  const revoked = { revokedAtMs: MoreThan(sinceMs), expiresAtMs: Or(IsNull(), MoreThan(sinceMs)) };
  // Two queries, so that ended keys never crowd out a valid one.
  const [valid, ended] = await Promise.all([of([validAt(nowMs)]), of([expired, revoked])]);
  return [...valid, ...ended].slice(0, MAX_KEYS_SHOWN).sort((a, b) => (a.id < b.id ? 1 : -1));
}

export function refuseUnknown(id: bigint | string): never {
  throw new AppError('not_found', `There is no API key ${id}.`);
}

function validAt(nowMs: number) {
  return { revokedAtMs: IsNull(), expiresAtMs: Or(IsNull(), MoreThan(nowMs)) };
}
