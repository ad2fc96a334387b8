import { createHash } from 'node:crypto';
import { type EntityManager, LessThan } from 'typeorm';
import type { Database } from '../../ground/database/database.js';
import { isDuplicate } from '../../ground/database/database-errors.js';
import { deleteInSteps } from '../../ground/database/retention.js';
import type { Caller, IdempotencyKey as ClientKey } from '../../ground/kernel/caller.js';
import type { Capability } from '../../ground/kernel/capability.js';
import { DAY_MS, isAhead } from '../../ground/kernel/duration.js';
import { AppError, invalidField } from '../../ground/kernel/errors.js';
import { IdempotencyKey } from './idempotency-key.entity.js';

const KEPT_MS = DAY_MS;
/** Longer than the limit of a request, so an expired lock means that its process died. */
const LOCK_MS = 10_000;

export interface Attempt {
  caller: Caller;
  /** Null = the client sent none, so nothing is stored. */
  key: ClientKey | null;
  operation: string;
  input: readonly (string | bigint | null | undefined)[];
}

/**
 * Stores the result in the transaction of the work, so that no attempt has one without the other. Throws `AppError
 * conflict` when another attempt has taken over.
 */
export type Complete<Result> = (manager: EntityManager, result: Result) => Promise<void>;

/** The stored form of a result. A repeated request gets what `read` returns or throws. */
export interface Codec<T> {
  write(value: T): string;
  read(json: string): T | Promise<T>;
}

export const ID_CODEC: Codec<bigint> = { write: String, read: BigInt };

/** Stores an object as JSON; the named properties are 64-bit integers, and become strings. */
export function objectCodec<T extends object>(...integers: readonly (keyof T & string)[]): Codec<T> {
  const isInteger = (name: string) => integers.some((integer) => integer === name);
  return {
    write: (value) =>
      JSON.stringify(value, (name, item) => (isInteger(name) && item !== null ? String(item) : item)),
    read: (json) =>
      JSON.parse(json, (name, item) => (isInteger(name) && item !== null ? BigInt(item) : item)),
  };
}

/** The values that the gateway adds to records that are created together. */
export interface Creation {
  /** In the order of the records. */
  ids: readonly bigint[];
  createdAtMs: number;
}

/** Stores only what the gateway added: a repeated request has the same records, and they would not fit into a column. */
export function creationCodec<Row extends { id: bigint; createdAtMs: number }>(
  rowsOf: (creation: Creation) => Row[],
): Codec<Row[]> {
  return {
    write: (created) =>
      JSON.stringify({ ids: created.map(({ id }) => String(id)), createdAtMs: created[0]?.createdAtMs }),
    read: (json) => {
      const { ids, createdAtMs } = JSON.parse(json);
      return rowsOf({ ids: ids.map(BigInt), createdAtMs });
    },
  };
}

/**
 * Runs the work of an Idempotency-Key once, and returns the same result to repeated requests at both doors.
 *
 * A row is written before the work, and gets the result in the transaction of the work. When a process dies in between,
 * nothing is done, and the next attempt does it. No transaction stays open while another request waits. D-9.
 */
export class IdempotencyService implements Capability {
  static readonly schema = { entities: [IdempotencyKey], migrations: [] };
  constructor(
    private readonly db: Database,
    private readonly now: () => number,
  ) {}

  /**
   * The result of `work`, from this attempt or from the first one. `work` gets null without a key. Its result is stored
   * behind it, if it does not call `complete`: then a repeat after a crash works again. A failed attempt frees the key.
   * Throws `AppError conflict` while the first request runs, `AppError idempotency_mismatch` for another operation or input.
   */
  async once<T>(
    attempt: Attempt,
    work: (complete: Complete<T> | null) => Promise<T>,
    codec: Codec<T>,
  ): Promise<T> {
    const { key } = attempt;
    if (key === null) return work(null);
    const row = await this.claim({ ...attempt, key });
    if (row.result !== null) {
      const result = await codec.read(row.result);
      key.onReplay();
      return result;
    }
    let isComplete = false;
    const complete = async (manager: EntityManager, result: T) => {
      // Without a lock, so that an attempt that waited for this transaction cannot take over.
      const done = { result: codec.write(result), lockedUntilMs: 0 };
      const { affected } = await manager.update(IdempotencyKey, held(row), done);
      if (affected !== 1) throw inFlight();
      isComplete = true;
    };
    try {
      const value = await work(complete);
      // The work is done. Without its stored result a repeat works again, once the lock has ended.
      if (!isComplete)
        await this.db
          .write(() => this.table.update(held(row), { result: codec.write(value) }))
          .catch(() => {});
      return value;
    } catch (error) {
      // If the database is unavailable, the lock expires automatically. After a lost commit, the row is no longer held.
      await this.db.write(() => this.table.delete(held(row))).catch(() => {});
      throw error;
    }
  }

  /** Deletes the rows older than 24 hours and returns how many. */
  deleteOldRows(): Promise<number> {
    return deleteInSteps(this.db, IdempotencyKey, { expiresAtMs: LessThan(this.now()) }, 'expiresAtMs');
  }

  /** The row of the key, with the result of an earlier attempt or for this one. Throws when neither is allowed. */
  private async claim({
    caller,
    key,
    operation,
    input,
  }: Attempt & { key: ClientKey }): Promise<IdempotencyKey> {
    const row: IdempotencyKey = {
      projectId: caller.projectId,
      keyDigest: sha256(checkedKey(key.text)),
      fingerprint: sha256(JSON.stringify([operation, ...input.map(fingerprintPart)])),
      lockedUntilMs: this.now() + LOCK_MS,
      result: null,
      expiresAtMs: this.now() + KEPT_MS,
    };
    try {
      await this.db.write(() => this.table.insert({ ...row }), caller.mayWrite);
      return row;
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
    const { projectId, keyDigest } = row;
    const known = await this.table.findOneBy({ projectId, keyDigest });
    if (!known) throw inFlight();
    if (known.expiresAtMs > this.now()) {
      if (known.fingerprint !== row.fingerprint) {
        throw new AppError(
          'idempotency_mismatch',
          'This Idempotency-Key was used with another payload. Use a new key for a new request.',
        );
      }
      if (known.result !== null) return known;
      if (isAhead(known.lockedUntilMs, this.now(), LOCK_MS)) throw inFlight();
    }
    // Of several requests that find the lock expired, only one gets it.
    const { affected } = await this.db.write(() => this.table.update(held(known), row), caller.mayWrite);
    if (affected !== 1) throw inFlight();
    return row;
  }

  private get table() {
    return this.db.repository(IdempotencyKey);
  }
}

/** Matches the row while this attempt has the lock. */
function held({ projectId, keyDigest, lockedUntilMs }: IdempotencyKey) {
  return { projectId, keyDigest, lockedUntilMs };
}

function inFlight(): AppError {
  const message = 'A request with this Idempotency-Key is still running. Try again shortly.';
  return new AppError('conflict', message, { retryAfterSeconds: 1 });
}

/** A client's key, or one of the keys that the GraphQL door makes of it for several mutations. */
function checkedKey(key: string): string {
  if (/^[\x21-\x7e]{1,255}(\n\w+)?$/.test(key)) return key;
  throw invalidField('Idempotency-Key', 'must be 1 to 255 visible ASCII characters');
}

function fingerprintPart(part: string | bigint | null | undefined): string | null {
  // Distinguishes "no value" from "not given".
  return part === undefined ? 'undefined' : part === null ? null : `${typeof part}:${part}`;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
