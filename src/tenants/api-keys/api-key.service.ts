import type { EntityManager } from 'typeorm';
import { takeTurn } from '../../ground/database/change-sequence.entity.js';
import type { Database } from '../../ground/database/database.js';
import { withDrawnId } from '../../ground/database/drawn-id.js';
import {
  type Actor,
  type Caller,
  requireScope,
  type Scopes,
  type ServiceCall,
} from '../../ground/kernel/caller.js';
import { AppError } from '../../ground/kernel/errors.js';
import type { IdGenerator } from '../../ground/kernel/ids.js';
import { KeyScopes1780000008000 } from '../../ground/migrations/1780000008000-key-scopes.js';
import type { ProjectSignals } from '../../ground/records/project-signals.js';
import type { AuditDetail } from '../audit/audit-event.entity.js';
import type { AuditLog } from '../audit/audit-log.js';
import type { Attempt, Codec, Complete, IdempotencyService } from '../idempotency/idempotency.service.js';
import { Project } from '../projects/project.entity.js';
import { ApiKey, scopesOf } from './api-key.entity.js';
import { CallerCache, earlier, findKnownKey, hasPassed } from './caller-cache.js';
import { actorOf, callerOf, type KeyChanger } from './key-changer.js';
import {
  checkedKey,
  checkName,
  checkOverlap,
  type IssuedApiKey,
  requireAll,
  SHOWN_ONCE,
  type WantedKey,
} from './new-key.rules.js';
import { digestOf, isToken, newToken, prefixOf } from './token.js';
import { refuseUnknown, requireRoom, shownKeys } from './valid-keys.js';

export interface NewApiKey extends WantedKey {
  projectId: bigint;
  rehearses?: boolean;
}

/** The bans of the project's keys. */
interface KeyBans {
  isBanned(id: bigint): Promise<boolean>;
  lift(id: bigint): Promise<void>;
}

type KeyAttempt = Pick<Attempt, 'operation' | 'input'>;

export class ApiKeyService {
  static readonly schema = { entities: [ApiKey], migrations: [KeyScopes1780000008000] };
  readonly callers: CallerCache;

  constructor(
    private readonly db: Database,
    private readonly ids: IdGenerator,
    private readonly records: { audit: AuditLog; idempotency: IdempotencyService; signals: ProjectSignals },
    readonly scopes: Scopes,
    private readonly now: () => number,
  ) {
    this.callers = new CallerCache((digest) => findKnownKey(db, scopes, digest), now);
  }

  /** The caller with this bearer token; null for anything that is not a valid key, for whatever reason. */
  identify(token: string): Caller | null | Promise<Caller | null> {
    return isToken(token) ? this.callers.identify(digestOf(token)) : null;
  }

  /** Throws `AppError not_found`. */
  async get(id: bigint): Promise<ApiKey> {
    return (await this.db.repository(ApiKey).findOneBy({ id })) ?? refuseUnknown(id);
  }

  list(projectId: bigint): Promise<ApiKey[]> {
    return this.db.repository(ApiKey).find({ where: { projectId }, order: { id: 'ASC' } });
  }

  /** Newest first, with the keys that ended within the last 30 days. Throws `AppError forbidden`. */
  async listShown({ caller }: ServiceCall): Promise<ApiKey[]> {
    requireScope(caller, 'keys');
    return shownKeys(this.db, caller, this.now());
  }

  /**
   * Throws `AppError invalid_request`. For a caller also `forbidden` for a scope that its key lacks; `conflict` when the
   * project has too many keys, or when the Idempotency-Key already created one: a token is shown only once. D-52.
   */
  async create(by: KeyChanger, wanted: NewApiKey): Promise<IssuedApiKey> {
    const caller = callerOf(by);
    const checked = checkedKey(wanted, this.scopes, this.now());
    const { name, scopes, expiresAtMs } = checked;
    if (caller) requireAll(caller, scopes);
    const input = [name, scopes.join(','), String(expiresAtMs)];
    return this.issueOnce(by, { operation: 'createApiKey', input }, async (manager) => {
      const latestEndMs = await this.admit(manager, caller);
      if (caller) await requireRoom(manager, caller, { added: 1, nowMs: this.now() });
      const endsAtMs = earlier(expiresAtMs, latestEndMs);
      return this.issue(manager, by, { ...checked, expiresAtMs: endsAtMs });
    });
  }

  /**
   * Replaces a key by a new one with the same rights. The old key stays valid for `overlapMs`, never beyond its own
   * expiry. Throws what `create` throws, `not_found`, and `conflict` for a key that is no longer valid or was already
   * rolled.
   */
  async roll(by: KeyChanger, id: bigint, overlapMs: number): Promise<IssuedApiKey> {
    const caller = callerOf(by);
    checkOverlap(overlapMs / 1000);
    const attempt = { operation: 'rollApiKey', input: [id, String(overlapMs)] };
    const issued = await this.issueOnce(by, attempt, async (manager) => {
      const latestEndMs = await this.admit(manager, caller);
      const old = await this.locked(manager, caller, id);
      if (caller) {
        requireAll(caller, scopesOf(old, this.scopes));
        // Without an overlap the new key replaces the old one, and the number of valid keys stays the same.
        const added = overlapMs === 0 ? 0 : 1;
        await requireRoom(manager, caller, { added, nowMs: this.now() });
      }
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
      const wanted = { ...old, scopes: scopesOf(old, this.scopes), expiresAtMs };
      const successor = await this.issue(manager, by, wanted);
      await manager.update(ApiKey, { id }, { expiresAtMs: endsAtMs, successorId: successor.key.id });
      const detail = { endsAtMs, successor: String(successor.key.id) };
      await this.record(manager, by, 'key.roll', old, detail);
      return successor;
    });
    this.tellAccess(issued.key);
    return issued;
  }

  /** Revokes a key at once, perhaps the caller's own; a second call changes nothing. Throws `AppError not_found`. */
  async revoke(by: KeyChanger, id: bigint): Promise<ApiKey> {
    const caller = callerOf(by);
    const revoked = await this.db.transaction(async (manager) => {
      await this.admit(manager, caller);
      const key = await this.locked(manager, caller, id);
      if (key.revokedAtMs !== null) return key;
      key.revokedAtMs = this.now();
      await manager.update(ApiKey, { id }, { revokedAtMs: key.revokedAtMs });
      await this.record(manager, by, 'key.revoke', key);
      return key;
    });
    this.tellAccess(revoked);
    return revoked;
  }

  /**
   * Gives a key another name, also after it was revoked; the same name changes nothing. A repeated Idempotency-Key returns
   * the key's current state with this name. Throws `AppError invalid_request`, `not_found`.
   */
  async rename(by: KeyChanger, id: bigint, name: string): Promise<ApiKey> {
    const caller = callerOf(by);
    checkName(name);
    const work = () =>
      this.db.transaction(async (manager) => {
        await this.admit(manager, caller);
        const key = await this.locked(manager, caller, id);
        if (key.name === name) return key;
        const detail = { from: key.name, to: name };
        await manager.update(ApiKey, { id }, { name });
        await this.record(manager, by, 'key.rename', key, detail);
        return Object.assign(key, { name });
      });
    const read = async () => ({ ...(await this.get(id)), name });
    const attempt = { operation: 'renameApiKey', input: [id, name] };
    return this.once(by, attempt, work, { write: () => String(id), read });
  }

  /**
   * Lifts the ban of a key, and records it; a key that is not banned stays as it is. The record comes first: no ban ends
   * without one. Throws `AppError not_found`, and what `bans` throws.
   */
  unban(by: KeyChanger, id: bigint, bans: KeyBans): Promise<ApiKey> {
    const caller = callerOf(by);
    const work = async () => {
      const isBanned = await bans.isBanned(id);
      const key = await this.db.transaction(async (manager) => {
        await this.admit(manager, caller);
        const key = await this.locked(manager, caller, id);
        if (isBanned) await this.record(manager, by, 'key.unban', key);
        return key;
      });
      if (isBanned) await bans.lift(id);
      return key;
    };
    const codec = { write: () => String(id), read: () => this.get(id) };
    return this.once(by, { operation: 'unbanApiKey', input: [id] }, work, codec);
  }

  /** Records in the audit log that a key was banned until `untilMs`, or that its ban was lifted (null). */
  recordBan(actor: Actor, { keyId, projectId }: Pick<Caller, 'keyId' | 'projectId'>, untilMs: number | null) {
    const [action, detail] = untilMs === null ? ['key.unban'] : ['key.ban', { untilMs }];
    return this.db.transaction((manager) =>
      this.record(manager, actor, action, { id: keyId, projectId }, detail),
    );
  }

  private tellAccess({ projectId }: ApiKey): void {
    this.callers.clear();
    this.records.signals.send(projectId, 'access');
  }

  /** Creates one key per Idempotency-Key. */
  private issueOnce(
    by: KeyChanger,
    attempt: KeyAttempt,
    make: (manager: EntityManager) => Promise<IssuedApiKey>,
  ): Promise<IssuedApiKey> {
    const work = (complete: Complete<IssuedApiKey> | null) =>
      this.db.transaction(async (manager) => {
        const made = await make(manager);
        await complete?.(manager, made);
        return made;
      });
    return this.once(by, attempt, work, SHOWN_ONCE);
  }

  /** An operator has no Idempotency-Key. */
  private once<T>(
    by: KeyChanger,
    attempt: KeyAttempt,
    work: (complete: Complete<T> | null) => Promise<T>,
    codec: Codec<T>,
  ): Promise<T> {
    if (!('caller' in by)) return work(null);
    const { caller, idempotencyKey: key } = by;
    return this.records.idempotency.once({ caller, key, ...attempt }, work, codec);
  }

  private record(
    manager: EntityManager,
    by: KeyChanger,
    action: string,
    { id, projectId }: Pick<ApiKey, 'id' | 'projectId'>,
    detail?: AuditDetail,
  ): Promise<void> {
    const act = { action, projectId, subject: String(id), detail };
    return this.records.audit.record(manager, actorOf(by), act);
  }

  /**
   * Serializes the changes to a project's keys, and refuses a caller's key that is no longer valid: a key revoked at this
   * moment must not leave another key behind. A key that expires makes none that outlives it: returns the latest end of a
   * new key, null = never. D-54.
   */
  private async admit(manager: EntityManager, caller: Caller | null): Promise<number | null> {
    if (!caller) return null;
    await takeTurn(manager, caller.projectId);
    await manager.findOneOrFail(Project, { where: { id: caller.projectId }, ...this.db.forUpdate });
    const own = await manager.findOneBy(ApiKey, { id: caller.keyId, projectId: caller.projectId });
    if (!own || own.revokedAtMs !== null || hasPassed(own.expiresAtMs, this.now())) {
      throw new AppError('unauthorized', 'This API key is no longer valid.');
    }
    return own.expiresAtMs;
  }

  private async issue(manager: EntityManager, by: KeyChanger, wanted: NewApiKey): Promise<IssuedApiKey> {
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
    const detail = { scopes: key.scopes, expiresAtMs: key.expiresAtMs };
    await this.record(manager, by, 'key.create', key, detail);
    return { key, token };
  }

  /** Returns the key and locks its row until the transaction ends: two concurrent rolls would make two successors. */
  private async locked(manager: EntityManager, caller: Caller | null, id: bigint): Promise<ApiKey> {
    const where = caller ? { id, projectId: caller.projectId } : { id };
    return (await manager.findOne(ApiKey, { where, ...this.db.forUpdate })) ?? refuseUnknown(id);
  }
}
