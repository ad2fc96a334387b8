import type { EntityManager } from 'typeorm';
import type { Database } from '../../ground/database/database.js';
import { withDrawnId } from '../../ground/database/drawn-id.js';
import type { Actor, Caller } from '../../ground/kernel/caller.js';
import { AppError } from '../../ground/kernel/errors.js';
import type { IdGenerator } from '../../ground/kernel/ids.js';
import type { AuditLog } from '../audit/audit-log.js';
import { ApiKey, scopesOf } from './api-key.entity.js';
import { CallerCache, findKnownKey, hasPassed } from './caller-cache.js';
import { checkedKey, checkName, checkOverlap, type WantedKey } from './new-key.rules.js';
import { digestOf, isToken, newToken, prefixOf } from './token.js';

export interface NewApiKey extends WantedKey {
  projectId: bigint;
  rehearses?: boolean;
}

/** A new key. Its token is known only at this moment. */
export interface IssuedApiKey {
  key: ApiKey;
  token: string;
}

interface IssueOptions {
  guard?: Guard;
  /** Joins the transaction that creates the key with this id. */
  alongside?: ((manager: EntityManager, id: bigint) => Promise<void>) | null;
}

/**
 * Runs first in the transaction; an error from it rolls the transaction back. Returns the latest end of a key that the
 * transaction creates; null = never.
 */
export type Guard = (manager: EntityManager) => Promise<number | null>;
const NO_GUARD: Guard = async () => null;

export class ApiKeyService {
  readonly callers: CallerCache;

  constructor(
    private readonly db: Database,
    private readonly ids: IdGenerator,
    private readonly audit: AuditLog,
    private readonly now: () => number,
  ) {
    this.callers = new CallerCache((digest) => findKnownKey(db, digest), now);
  }

  /** The caller with this bearer token; null for anything that is not a valid key, for whatever reason. */
  identify(token: string): Caller | null | Promise<Caller | null> {
    return isToken(token) ? this.callers.identify(digestOf(token)) : null;
  }

  /** Throws `AppError invalid_request`. */
  async create(
    actor: Actor,
    wanted: NewApiKey,
    { guard = NO_GUARD, alongside }: IssueOptions = {},
  ): Promise<IssuedApiKey> {
    const checked = checkedKey(wanted, this.now());
    return this.db.transaction(async (manager) => {
      const expiresAtMs = earlier(checked.expiresAtMs, await guard(manager));
      const issued = await this.issue(manager, actor, { ...checked, expiresAtMs });
      await alongside?.(manager, issued.key.id);
      return issued;
    });
  }

  list(projectId: bigint): Promise<ApiKey[]> {
    return this.db.repository(ApiKey).find({ where: { projectId }, order: { id: 'ASC' } });
  }

  /** Revokes a key at once; a second call changes nothing. Throws `AppError not_found`. */
  async revoke(actor: Actor, id: bigint, guard = NO_GUARD): Promise<ApiKey> {
    const revoked = await this.db.transaction(async (manager) => {
      await guard(manager);
      const key = await this.locked(manager, id);
      if (key.revokedAtMs !== null) return key;
      key.revokedAtMs = this.now();
      await manager.update(ApiKey, { id }, { revokedAtMs: key.revokedAtMs });
      await this.audit.record(manager, actor, {
        action: 'key.revoke',
        projectId: key.projectId,
        subject: String(id),
      });
      return key;
    });
    this.callers.clear();
    return revoked;
  }

  /** Gives a key another name; the same name changes nothing. Throws `AppError invalid_request`, `not_found`. */
  async rename(actor: Actor, id: bigint, name: string, guard = NO_GUARD): Promise<ApiKey> {
    checkName(name);
    return this.db.transaction(async (manager) => {
      await guard(manager);
      const key = await this.locked(manager, id);
      if (key.name === name) return key;
      const from = key.name;
      await manager.update(ApiKey, { id }, { name });
      await this.audit.record(manager, actor, {
        action: 'key.rename',
        projectId: key.projectId,
        subject: String(id),
        detail: { from, to: name },
      });
      return Object.assign(key, { name });
    });
  }

  /**
   * Replaces a key by a new one with the same rights. The old key stays valid for `overlapMs`, never beyond its own
   * expiry. Throws `AppError invalid_request`, `not_found`, and `conflict` for a key that is no longer valid or was
   * already rolled.
   */
  async roll(
    actor: Actor,
    id: bigint,
    overlapMs: number,
    { guard = NO_GUARD, alongside }: IssueOptions = {},
  ): Promise<IssuedApiKey> {
    checkOverlap(overlapMs / 1000);
    const issued = await this.db.transaction(async (manager) => {
      const latestEndMs = await guard(manager);
      const old = await this.locked(manager, id);
      if (old.revokedAtMs !== null || hasPassed(old.expiresAtMs, this.now())) {
        throw new AppError('conflict', `API key ${id} is no longer valid. Create a new one instead.`);
      }
      // A second successor would inherit the expiry that the first roll set on this key.
      if (old.successorId !== null) {
        throw new AppError(
          'conflict',
          `API key ${id} was already rolled into ${old.successorId}. Roll that key instead.`,
        );
      }
      const endsAtMs = earlier(this.now() + overlapMs, old.expiresAtMs);
      const expiresAtMs = earlier(old.expiresAtMs, latestEndMs);
      const wanted = { ...old, scopes: scopesOf(old), expiresAtMs };
      const successor = await this.issue(manager, actor, wanted);
      await manager.update(ApiKey, { id }, { expiresAtMs: endsAtMs, successorId: successor.key.id });
      await this.audit.record(manager, actor, {
        action: 'key.roll',
        projectId: old.projectId,
        subject: String(id),
        detail: { endsAtMs, successor: String(successor.key.id) },
      });
      await alongside?.(manager, successor.key.id);
      return successor;
    });
    this.callers.clear();
    return issued;
  }

  /** Throws `AppError not_found`. */
  async get(id: bigint): Promise<ApiKey> {
    return find(this.db.repository(ApiKey).manager, id);
  }

  /** Records in the audit log that a key was banned until `untilMs`, or that its ban was lifted (null). */
  recordBan(actor: Actor, key: { keyId: bigint; projectId: bigint }, untilMs: number | null): Promise<void> {
    return this.db.transaction((manager) =>
      this.audit.record(manager, actor, {
        action: untilMs === null ? 'key.unban' : 'key.ban',
        projectId: key.projectId,
        subject: String(key.keyId),
        ...(untilMs === null ? {} : { detail: { untilMs } }),
      }),
    );
  }

  private async issue(manager: EntityManager, actor: Actor, wanted: NewApiKey): Promise<IssuedApiKey> {
    const token = newToken();
    const values = {
      projectId: wanted.projectId,
      name: wanted.name,
      prefix: prefixOf(token),
      digest: digestOf(token),
      scopes: wanted.scopes.join(','),
      rehearses: wanted.rehearses ?? false,
      createdAtMs: this.now(),
      expiresAtMs: wanted.expiresAtMs,
      revokedAtMs: null,
      lastUsedAtMs: null,
      successorId: null,
    };
    const key = await withDrawnId(this.ids, async (id) => {
      const row = manager.create(ApiKey, { id, ...values });
      // Without `updateEntity(false)` TypeORM reads the row again, because a column has a default.
      await manager.createQueryBuilder().insert().into(ApiKey).values(row).updateEntity(false).execute();
      return row;
    });
    await this.audit.record(manager, actor, {
      action: 'key.create',
      projectId: key.projectId,
      subject: String(key.id),
      detail: { scopes: key.scopes, expiresAtMs: key.expiresAtMs },
    });
    return { key, token };
  }

  /** Returns the key and locks its row until the transaction ends: two concurrent rolls would make two successors. */
  private async locked(manager: EntityManager, id: bigint): Promise<ApiKey> {
    return (await manager.findOne(ApiKey, { where: { id }, ...this.db.forUpdate })) ?? refuseUnknown(id);
  }
}

/** Null = never. */
function earlier(aMs: number | null, bMs: number | null): number | null {
  return aMs === null || bMs === null ? (aMs ?? bMs) : Math.min(aMs, bMs);
}

async function find(manager: EntityManager, id: bigint): Promise<ApiKey> {
  return (await manager.findOneBy(ApiKey, { id })) ?? refuseUnknown(id);
}

export function refuseUnknown(id: bigint | string): never {
  throw new AppError('not_found', `There is no API key ${id}.`);
}
