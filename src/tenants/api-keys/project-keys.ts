import { Between, type EntityManager, IsNull, MoreThan, Or } from 'typeorm';
import type { Database } from '../../ground/database/database.js';
import { type Caller, requireScope, type ServiceCall } from '../../ground/kernel/caller.js';
import { DAY_MS } from '../../ground/kernel/duration.js';
import { AppError } from '../../ground/kernel/errors.js';
import {
  type Attempt,
  type Complete,
  ID_CODEC,
  type IdempotencyService,
} from '../idempotency/idempotency.service.js';
import { Project } from '../projects/project.entity.js';
import { ApiKey, scopesOf } from './api-key.entity.js';
import { type ApiKeyService, type Guard, type IssuedApiKey, refuseUnknown } from './api-key.service.js';
import { hasPassed } from './caller-cache.js';
import { checkedKey, checkName, checkOverlap, requireAll, type WantedKey } from './new-key.rules.js';

export const MAX_VALID_KEYS = 100;
const ENDED_SHOWN_MS = 30 * DAY_MS;
/** Operators can exceed the limit: valid keys are listed before expired and revoked ones. */
export const MAX_KEYS_SHOWN = 2 * MAX_VALID_KEYS;

/** Lists and changes the keys of the caller's project. Keys of other projects are reported as not found. */
export class ProjectKeys {
  constructor(
    private readonly db: Database,
    private readonly apiKeys: ApiKeyService,
    private readonly idempotency: IdempotencyService,
    private readonly now: () => number,
  ) {}

  /** The key that sent the request. */
  current({ caller }: ServiceCall): Promise<ApiKey> {
    return this.apiKeys.get(caller.keyId);
  }

  /** Newest first, with the keys that ended within the last 30 days. Throws `AppError forbidden`. */
  async list({ caller }: ServiceCall): Promise<ApiKey[]> {
    requireScope(caller, 'keys');
    const nowMs = this.now();
    const sinceMs = nowMs - ENDED_SHOWN_MS;
    const of = (where: readonly object[]) =>
      this.db.repository(ApiKey).find({
        where: where.map((condition) => ({ projectId: caller.projectId, ...condition })),
        order: { id: 'DESC' },
        take: MAX_KEYS_SHOWN,
      });
    const valid = { revokedAtMs: IsNull(), expiresAtMs: Or(IsNull(), MoreThan(nowMs)) };
    const expired = { revokedAtMs: IsNull(), expiresAtMs: Between(sinceMs + 1, nowMs) };
    const revoked = { revokedAtMs: MoreThan(sinceMs), expiresAtMs: Or(IsNull(), MoreThan(sinceMs)) };
    // Two queries, so that ended keys never crowd out a valid one.
    const [used, ended] = await Promise.all([of([valid]), of([expired, revoked])]);
    return [...used, ...ended].slice(0, MAX_KEYS_SHOWN).sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  /**
   * Creates a key. Throws `AppError invalid_request`; `forbidden` without the scope, or for a scope that the caller's key
   * lacks; `conflict` when the project has too many keys, or when the Idempotency-Key already created one: a token is
   * shown only once. D-52.
   */
  create({ caller, actor, idempotencyKey }: ServiceCall, wanted: WantedKey): Promise<IssuedApiKey> {
    requireScope(caller, 'keys');
    const { name, scopes, expiresAtMs } = checkedKey(wanted, this.now());
    requireAll(caller, scopes);
    const guard = this.guard(caller, (manager) => this.requireRoom(manager, caller, 1));
    const key = { projectId: caller.projectId, name, scopes, expiresAtMs };
    const input = [name, scopes.join(','), String(expiresAtMs)];
    return this.once({ caller, key: idempotencyKey, operation: 'createApiKey', input }, (alongside) =>
      this.apiKeys.create(actor, key, { guard, alongside }),
    );
  }

  /** As `ApiKeyService.roll`. Throws what `create` throws, and `AppError not_found`. */
  roll(
    { caller, actor, idempotencyKey }: ServiceCall,
    keyId: bigint,
    overlapSeconds: number,
  ): Promise<IssuedApiKey> {
    requireScope(caller, 'keys');
    checkOverlap(overlapSeconds);
    const overlapMs = overlapSeconds * 1000;
    const guard = this.guard(caller, async (manager) => {
      const old = await ofProject(manager, caller, keyId);
      requireAll(caller, scopesOf(old));
      // Without an overlap the new key replaces the old one, and the number of valid keys stays the same.
      await this.requireRoom(manager, caller, overlapMs === 0 ? 0 : 1);
    });
    const input = [keyId, String(overlapMs)];
    return this.once({ caller, key: idempotencyKey, operation: 'rollApiKey', input }, (alongside) =>
      this.apiKeys.roll(actor, keyId, overlapMs, { guard, alongside }),
    );
  }

  /**
   * Revokes a key, which may be the caller's own; a second call changes nothing. Throws `AppError forbidden`,
   * `not_found`.
   */
  revoke({ caller, actor }: ServiceCall, keyId: bigint): Promise<ApiKey> {
    requireScope(caller, 'keys');
    const guard = this.guard(caller, (manager) => ofProject(manager, caller, keyId));
    return this.apiKeys.revoke(actor, keyId, guard);
  }

  /**
   * Renames a key, which may be revoked. A repeated Idempotency-Key returns its current state with this name. Throws
   * `AppError invalid_request`, `forbidden`, `not_found`.
   */
  async rename(
    { caller, actor, idempotencyKey: key }: ServiceCall,
    keyId: bigint,
    name: string,
  ): Promise<ApiKey> {
    requireScope(caller, 'keys');
    checkName(name);
    const guard = this.guard(caller, (manager) => ofProject(manager, caller, keyId));
    const rename = () => this.apiKeys.rename(actor, keyId, name, guard);
    let renamed: ApiKey | null = null;
    const work = async () => {
      renamed = await rename();
      return keyId;
    };
    await this.idempotency.once(
      { caller, key, operation: 'renameApiKey', input: [keyId, name] },
      work,
      ID_CODEC,
    );
    return renamed ?? { ...(await this.apiKeys.get(keyId)), name };
  }

  /**
   * Serializes the changes to a project's keys, and refuses a caller's key that is no longer valid: a key revoked at this
   * moment must not leave another key behind. A key that expires makes none that outlives it. D-54.
   */
  private guard(caller: Caller, check: (manager: EntityManager) => Promise<unknown>): Guard {
    return async (manager) => {
      await manager.findOneOrFail(Project, { where: { id: caller.projectId }, ...this.db.forUpdate });
      const own = await ofProject(manager, caller, caller.keyId);
      if (own.revokedAtMs !== null || hasPassed(own.expiresAtMs, this.now())) {
        throw new AppError('unauthorized', 'This API key is no longer valid.');
      }
      await check(manager);
      return own.expiresAtMs;
    };
  }

  private async requireRoom(manager: EntityManager, { projectId }: Caller, added: number): Promise<void> {
    const validKeys = await manager.countBy(ApiKey, {
      projectId,
      revokedAtMs: IsNull(),
      expiresAtMs: Or(IsNull(), MoreThan(this.now())),
    });
    if (validKeys + added <= MAX_VALID_KEYS) return;
    const most = `A project may have ${MAX_VALID_KEYS} valid API keys`;
    throw new AppError('conflict', `${most}, and has ${validKeys}. Revoke a key that is not needed.`);
  }

  /** Creates one key per Idempotency-Key. Stores only the key's id, as a token must not be stored anywhere. */
  private async once(
    { key, ...attempt }: Attempt,
    make: (complete: Complete<bigint> | null) => Promise<IssuedApiKey>,
  ): Promise<IssuedApiKey> {
    let issued: IssuedApiKey | null = null;
    const work = async (complete: Complete<bigint> | null) => {
      issued = await make(complete);
      return issued.key.id;
    };
    // A repeated request gets an error, which is not the stored answer.
    const unmarked = key && { ...key, onReplay: () => {} };
    const id = await this.idempotency.once({ ...attempt, key: unmarked }, work, ID_CODEC);
    if (issued) return issued;
    throw new AppError(
      'conflict',
      `This Idempotency-Key created the API key ${id}. Its token was shown only once: if it is lost, revoke that key and create another.`,
    );
  }
}

async function ofProject(manager: EntityManager, { projectId }: Caller, id: bigint): Promise<ApiKey> {
  return (await manager.findOneBy(ApiKey, { id, projectId })) ?? refuseUnknown(id);
}
