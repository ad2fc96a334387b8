import { Between, type EntityManager, IsNull, MoreThan, Or } from 'typeorm';
import type { Actor } from '../audit/audit-log.js';
import { type Caller, requireScope } from '../caller.js';
import type { Database } from '../database/database.js';
import { AppError } from '../errors.js';
import type { Attempt, IdempotencyService } from '../idempotency/idempotency.service.js';
import { Project } from '../projects/project.entity.js';
import { ApiKey } from './api-key.entity.js';
import { type ApiKeyService, type Guard, type IssuedApiKey, refuseUnknown } from './api-key.service.js';
import { hasPassed, scopesOf } from './known-key.js';
import { checkedKey, checkOverlap, requireAll, type WantedKey } from './new-key.rules.js';

export const MAX_KEYS_IN_FORCE = 100;
const ENDED_SHOWN_MS = 30 * 86_400_000;
/** Operators may make more than owners: all that are in force come before those that have ended. */
export const MAX_KEYS_SHOWN = 2 * MAX_KEYS_IN_FORCE;

/** Who asks, through which request, and the Idempotency-Key sent with it. */
export interface KeyRequest {
  caller: Caller;
  actor: Actor;
  idempotencyKey: string | null;
}

/** The keys of the caller's project, as its owner sees and changes them. To the caller, those of others do not exist. */
export class ProjectKeys {
  constructor(
    private readonly db: Database,
    private readonly apiKeys: ApiKeyService,
    private readonly idempotency: IdempotencyService,
    private readonly now: () => number,
  ) {}

  /** The key that asks. */
  current({ keyId }: Caller): Promise<ApiKey> {
    return this.apiKeys.get(keyId);
  }

  /** Newest first; those that have ended for 30 days more. Throws `AppError forbidden`. */
  async list(caller: Caller): Promise<ApiKey[]> {
    requireScope(caller, 'keys');
    const nowMs = this.now();
    const sinceMs = nowMs - ENDED_SHOWN_MS;
    const of = (where: readonly object[]) =>
      this.db.repository(ApiKey).find({
        where: where.map((condition) => ({ projectId: caller.projectId, ...condition })),
        order: { id: 'DESC' },
        take: MAX_KEYS_SHOWN,
      });
    const inForce = { revokedAtMs: IsNull(), expiresAtMs: Or(IsNull(), MoreThan(nowMs)) };
    const expired = { revokedAtMs: IsNull(), expiresAtMs: Between(sinceMs + 1, nowMs) };
    const revoked = { revokedAtMs: MoreThan(sinceMs), expiresAtMs: Or(IsNull(), MoreThan(sinceMs)) };
    // Apart, so that no number of keys that have ended hides one in force.
    const [used, ended] = await Promise.all([of([inForce]), of([expired, revoked])]);
    return [...used, ...ended].slice(0, MAX_KEYS_SHOWN).sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  /**
   * Throws `AppError invalid_request`, `forbidden` without the scope or for a scope that the caller's key lacks, and
   * `conflict` when the project has too many keys, or had this answer before: the token is shown once.
   */
  create({ caller, actor, idempotencyKey }: KeyRequest, wanted: WantedKey): Promise<IssuedApiKey> {
    requireScope(caller, 'keys');
    const { name, scopes, expiresAtMs } = checkedKey(wanted, this.now());
    requireAll(caller, scopes);
    const guard = this.guard(caller, (manager) => this.requireRoom(manager, caller, 1));
    const key = { projectId: caller.projectId, name, scopes, expiresAtMs };
    const input = [name, scopes.join(','), String(expiresAtMs)];
    return this.once({ caller, key: idempotencyKey, operation: 'createApiKey', input }, (id) =>
      this.apiKeys.create(actor, key, { guard, ...id }),
    );
  }

  /** As `ApiKeyService.roll`. Throws what `create` throws, and `AppError not_found`. */
  roll(
    { caller, actor, idempotencyKey }: KeyRequest,
    keyId: bigint,
    overlapSeconds: number,
  ): Promise<IssuedApiKey> {
    requireScope(caller, 'keys');
    checkOverlap(overlapSeconds);
    const overlapMs = overlapSeconds * 1000;
    const guard = this.guard(caller, async (manager) => {
      const old = await ofProject(manager, caller, keyId);
      requireAll(caller, scopesOf(old));
      // Without an overlap one key takes the place of another.
      await this.requireRoom(manager, caller, overlapMs === 0 ? 0 : 1);
    });
    const input = [keyId, String(overlapMs)];
    return this.once({ caller, key: idempotencyKey, operation: 'rollApiKey', input }, (id) =>
      this.apiKeys.roll(actor, keyId, overlapMs, { guard, ...id }),
    );
  }

  /** Ends a key, which may be the caller's own; a second time changes nothing. Throws `AppError forbidden`, `not_found`. */
  revoke({ caller, actor }: Pick<KeyRequest, 'caller' | 'actor'>, keyId: bigint): Promise<ApiKey> {
    requireScope(caller, 'keys');
    const guard = this.guard(caller, async (manager) => {
      await ofProject(manager, caller, keyId);
    });
    return this.apiKeys.revoke(actor, keyId, guard);
  }

  /**
   * Lets the acts of a project go one after the other, and only those of a key that is still in force: one revoked this
   * moment must not leave another one behind.
   */
  private guard(caller: Caller, check: Guard): Guard {
    return async (manager) => {
      await manager.findOneOrFail(Project, { where: { id: caller.projectId }, ...this.db.forUpdate });
      const own = await ofProject(manager, caller, caller.keyId);
      if (own.revokedAtMs !== null || hasPassed(own.expiresAtMs, this.now())) {
        throw new AppError('unauthorized', 'This API key is no longer in force.');
      }
      await check(manager);
    };
  }

  private async requireRoom(manager: EntityManager, { projectId }: Caller, added: number): Promise<void> {
    const inForce = await manager.countBy(ApiKey, {
      projectId,
      revokedAtMs: IsNull(),
      expiresAtMs: Or(IsNull(), MoreThan(this.now())),
    });
    if (inForce + added <= MAX_KEYS_IN_FORCE) return;
    const most = `A project may have ${MAX_KEYS_IN_FORCE} API keys in force`;
    throw new AppError('conflict', `${most}, and has ${inForce}. Revoke one that is not needed.`);
  }

  /** One key for one Idempotency-Key. Only its id is kept: a token must be stored nowhere. */
  private async once(
    { key, ...attempt }: Omit<Attempt, 'key'> & { key: string | null },
    make: (id: { id?: bigint }) => Promise<IssuedApiKey>,
  ): Promise<IssuedApiKey> {
    if (key === null) return make({});
    const made = await this.idempotency.once<MadeKey>(
      { ...attempt, key },
      async (reservation) => {
        const issued = await reservation.create((id) => make({ id }));
        return { id: reservation.id, issued };
      },
      { write: ({ id }) => String(id), read: (id) => ({ id: BigInt(id), issued: null }) },
    );
    if (made.issued) return made.issued;
    throw new AppError(
      'conflict',
      `This Idempotency-Key has made the API key ${made.id}, whose token was shown that once. If it is lost, revoke that key and make another.`,
    );
  }
}

interface MadeKey {
  id: bigint;
  /** Null = made before. */
  issued: IssuedApiKey | null;
}

async function ofProject(manager: EntityManager, { projectId }: Caller, id: bigint): Promise<ApiKey> {
  return (await manager.findOneBy(ApiKey, { id, projectId })) ?? refuseUnknown(id);
}
