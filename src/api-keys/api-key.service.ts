import type { EntityManager } from 'typeorm';
import type { Actor, AuditLog } from '../audit/audit-log.js';
import type { Caller } from '../caller.js';
import type { Database } from '../database/database.js';
import { withDrawnId } from '../database/drawn-id.js';
import { AppError } from '../errors.js';
import type { IdGenerator } from '../ids.js';
import { ApiKey } from './api-key.entity.js';
import { CallerCache, type KnownKey } from './caller-cache.js';
import { findKnownKey, hasPassed, scopesOf } from './known-key.js';
import { checkedKey, checkOverlap, type WantedKey } from './new-key.rules.js';
import { digestOf, isToken, newToken, prefixOf } from './token.js';

export interface NewApiKey extends WantedKey {
  projectId: bigint;
  rehearses?: boolean;
}

/** A key just made: the only moment its token is known. */
export interface IssuedApiKey {
  key: ApiKey;
  token: string;
}

interface IssueOptions {
  guard?: Guard;
  /** Of the key that is made; without one it is drawn. */
  id?: bigint | undefined;
}

/** Runs first in the transaction of an act; what it throws undoes the act. */
export type Guard = (manager: EntityManager) => Promise<void>;
const NO_GUARD: Guard = async () => {};

export class ApiKeyService {
  private readonly callers: CallerCache;

  constructor(
    private readonly db: Database,
    private readonly ids: IdGenerator,
    private readonly audit: AuditLog,
    private readonly now: () => number,
  ) {
    this.callers = new CallerCache((digest) => findKnownKey(db, digest), now);
  }

  /** Whose bearer token this is; null for anything that is not a key in force, whatever the reason. */
  identify(token: string): Caller | null | Promise<Caller | null> {
    return isToken(token) ? this.identifyDigest(digestOf(token)) : null;
  }

  /** As `identify`, for who has checked and hashed the token before. */
  identifyDigest(digest: string): Caller | null | Promise<Caller | null> {
    const known = this.callers.find(digest);
    return known instanceof Promise ? known.then((key) => this.inForce(key)) : this.inForce(known);
  }

  /** Throws `AppError invalid_request`. */
  async create(
    actor: Actor,
    wanted: NewApiKey,
    { guard = NO_GUARD, id }: IssueOptions = {},
  ): Promise<IssuedApiKey> {
    const checked = checkedKey(wanted, this.now());
    return this.db.transaction(async (manager) => {
      await guard(manager);
      return this.issue(manager, actor, checked, id);
    });
  }

  list(projectId: bigint): Promise<ApiKey[]> {
    return this.db.repository(ApiKey).find({ where: { projectId }, order: { id: 'ASC' } });
  }

  /** Ends a key at once; a second time changes nothing. Throws `AppError not_found`. */
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

  /**
   * Replaces a key by a new one with the same rights; the old one stays in force for `overlapMs`, never beyond its own
   * expiry. Throws `AppError invalid_request`, `not_found`, and `conflict` for a key no longer in force or rolled already.
   */
  async roll(
    actor: Actor,
    id: bigint,
    overlapMs: number,
    { guard = NO_GUARD, id: successorId }: IssueOptions = {},
  ): Promise<IssuedApiKey> {
    checkOverlap(overlapMs / 1000);
    const issued = await this.db.transaction(async (manager) => {
      await guard(manager);
      const old = await this.locked(manager, id);
      if (old.revokedAtMs !== null || hasPassed(old.expiresAtMs, this.now())) {
        throw new AppError('conflict', `API key ${id} is no longer in force. Create a new one instead.`);
      }
      // A second successor would inherit the end that the first roll gave to this key.
      if (old.successorId !== null) {
        throw new AppError('conflict', `API key ${id} was rolled into ${old.successorId}. Roll that one.`);
      }
      const endsAtMs = Math.min(this.now() + overlapMs, old.expiresAtMs ?? Number.POSITIVE_INFINITY);
      const rights = { scopes: scopesOf(old), rehearses: old.rehearses === 1 };
      const successor = await this.issue(manager, actor, { ...old, ...rights }, successorId);
      await manager.update(ApiKey, { id }, { expiresAtMs: endsAtMs, successorId: successor.key.id });
      await this.audit.record(manager, actor, {
        action: 'key.roll',
        projectId: old.projectId,
        subject: String(id),
        detail: { endsAtMs, successor: String(successor.key.id) },
      });
      return successor;
    });
    this.callers.clear();
    return issued;
  }

  /** Throws `AppError not_found`. */
  async get(id: bigint): Promise<ApiKey> {
    return find(this.db.repository(ApiKey).manager, id);
  }

  /** Puts on record that a key was banned until then, or that its ban was lifted (null). */
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

  private inForce(key: KnownKey | null): Caller | null {
    return key && !hasPassed(key.expiresAtMs, this.now()) ? key.caller : null;
  }

  private async issue(
    manager: EntityManager,
    actor: Actor,
    wanted: NewApiKey,
    givenId: bigint | undefined,
  ): Promise<IssuedApiKey> {
    const token = newToken();
    const values = {
      projectId: wanted.projectId,
      name: wanted.name,
      prefix: prefixOf(token),
      digest: digestOf(token),
      scopes: wanted.scopes.join(','),
      rehearses: wanted.rehearses ? 1 : 0,
      createdAtMs: this.now(),
      expiresAtMs: wanted.expiresAtMs,
      revokedAtMs: null,
      lastUsedAtMs: null,
      successorId: null,
    };
    const insert = async (id: bigint) => {
      const row = manager.create(ApiKey, { id, ...values });
      // Left alone, TypeORM reads the row again, as a column has a default.
      await manager.createQueryBuilder().insert().into(ApiKey).values(row).updateEntity(false).execute();
      return row;
    };
    const key = await (givenId === undefined ? withDrawnId(this.ids, insert) : insert(givenId));
    await this.audit.record(manager, actor, {
      action: 'key.create',
      projectId: key.projectId,
      subject: String(key.id),
      detail: { scopes: key.scopes, expiresAtMs: key.expiresAtMs },
    });
    return { key, token };
  }

  /** The key, which nobody else changes until the transaction ends: rolled twice at once it would have two successors. */
  private async locked(manager: EntityManager, id: bigint): Promise<ApiKey> {
    return (await manager.findOne(ApiKey, { where: { id }, ...this.db.forUpdate })) ?? refuseUnknown(id);
  }
}

async function find(manager: EntityManager, id: bigint): Promise<ApiKey> {
  return (await manager.findOneBy(ApiKey, { id })) ?? refuseUnknown(id);
}

export function refuseUnknown(id: bigint | string): never {
  throw new AppError('not_found', `There is no API key ${id}.`);
}
