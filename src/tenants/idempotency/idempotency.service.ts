import { createHash } from 'node:crypto';
import { type EntityManager, LessThan } from 'typeorm';
import type { Database } from '../../ground/database/database.js';
import { isDuplicate, isDuplicateId } from '../../ground/database/database-errors.js';
import { withDrawnId } from '../../ground/database/drawn-id.js';
import type { Caller, IdempotencyKey as ClientKey } from '../../ground/kernel/caller.js';
import { DAY_MS } from '../../ground/kernel/duration.js';
import { AppError, invalidRequest } from '../../ground/kernel/errors.js';
import type { IdGenerator } from '../../ground/kernel/ids.js';
import { IdempotencyKey } from './idempotency-key.entity.js';

const KEPT_MS = DAY_MS;
/** Longer than the limit of a request, so an expired lock means that its process died. */
const LOCK_MS = 10_000;

export interface Attempt {
  caller: Caller;
  /** Null = the client sent none, so the work runs without a reservation. */
  key: ClientKey | null;
  operation: string;
  input: readonly (string | bigint | null | undefined)[];
}

/** The reserved id for the thing that an attempt creates. */
export interface Reservation<Result = unknown> {
  readonly id: bigint;
  /** Whether an earlier attempt began the work, and its outcome was lost. */
  readonly isRepeat: boolean;
  /**
   * Runs `create` with the id, and retries with another id while the primary key is taken by chance. Null = an earlier
   * attempt, whose outcome was lost, has created the thing with this id.
   */
  create<T>(create: (id: bigint) => Promise<T>): Promise<T | null>;
  /**
   * Stores the result in the transaction of the work, so that no attempt has one without the other. Throws `AppError
   * conflict` when another attempt has taken over.
   */
  complete(manager: EntityManager, result: Result): Promise<void>;
}

/** The stored form of a result. */
interface Codec<T> {
  write(value: T): string;
  read(json: string): T;
}

export const ID_CODEC: Codec<bigint> = { write: String, read: BigInt };

/** Stores an object as JSON; the named properties are 64-bit integers, and become strings. */
export function objectCodec<T extends object>(...integers: readonly (keyof T & string)[]): Codec<T> {
  const isInteger = (name: string) => integers.some((integer) => integer === name);
  return {
    write: (value) => JSON.stringify(value, (name, item) => (isInteger(name) ? String(item) : item)),
    read: (json) => JSON.parse(json, (name, item) => (isInteger(name) ? BigInt(item) : item)),
  };
}

/**
 * Runs the work of an Idempotency-Key once, and returns the same result to repeated requests at both doors.
 *
 * A row is written before the work and completed after it. The row reserves the id of the thing that the work creates.
 * When a process dies in between, the next attempt uses the same id and can't create a second thing. No transaction stays
 * open meanwhile. D-9.
 */
export class IdempotencyService {
  constructor(
    private readonly db: Database,
    private readonly ids: IdGenerator,
    private readonly now: () => number,
  ) {}

  /**
   * The result of `work`, from this attempt or from the first one. A failed attempt frees the key.
   * Throws `AppError conflict` while the first request runs, `AppError idempotency_mismatch` for another operation or input.
   */
  async once<T>(
    attempt: Attempt,
    work: (reservation: Reservation<T>) => Promise<T>,
    codec: Codec<T>,
  ): Promise<T> {
    const { key } = attempt;
    if (key === null) return work(this.unreserved());
    const { row, isRepeat } = await this.claim({ ...attempt, key });
    if (row.result !== null) {
      key.onReplay();
      return codec.read(row.result);
    }
    let value: T;
    let isComplete = false;
    const complete = async (manager: EntityManager, result: T) => {
      // Without a lock, so that an attempt that waited for this transaction cannot take over.
      const done = { result: codec.write(result), lockedUntilMs: 0 };
      const { affected } = await manager.update(IdempotencyKey, held(row), done);
      if (affected !== 1) throw inFlight();
      isComplete = true;
    };
    try {
      value = await work(this.reservation(row, isRepeat, complete));
    } catch (error) {
      await this.release(row, error);
      throw error;
    }
    if (isComplete) return value;
    await this.db.write(() => this.table.update(held(row), { result: codec.write(value) }));
    return value;
  }

  /** Deletes the rows older than 24 hours and returns how many. */
  deleteExpiredKeys(): Promise<number> {
    return this.db.deleteInSteps(IdempotencyKey, { expiresAtMs: LessThan(this.now()) }, 'expiresAtMs');
  }

  private get table() {
    return this.db.repository(IdempotencyKey);
  }

  private async claim({ caller, key, operation, input }: Attempt & { key: ClientKey }): Promise<Claim> {
    const row: IdempotencyKey = {
      projectId: caller.projectId,
      keyDigest: sha256(checkedKey(key.text)),
      fingerprint: sha256(JSON.stringify([operation, ...input.map(fingerprintPart)])),
      reservedId: this.ids.next(),
      lockedUntilMs: this.now() + LOCK_MS,
      result: null,
      expiresAtMs: this.now() + KEPT_MS,
    };
    try {
      await this.db.write(() => this.table.insert({ ...row }));
      return { row, isRepeat: false };
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
    return this.resume(row);
  }

  /** The claim for a used key: its stored result, or a new attempt. Throws when neither is allowed. */
  private async resume(row: IdempotencyKey): Promise<Claim> {
    const { projectId, keyDigest } = row;
    const known = await this.table.findOneBy({ projectId, keyDigest });
    if (!known) throw inFlight();
    const isExpired = known.expiresAtMs <= this.now();
    if (!isExpired) {
      if (known.fingerprint !== row.fingerprint) {
        throw new AppError(
          'idempotency_mismatch',
          'This Idempotency-Key was used with another payload. Use a new key for a new request.',
        );
      }
      if (known.result !== null) return { row: known, isRepeat: true };
      if (known.lockedUntilMs > this.now()) throw inFlight();
    }
    const next = isExpired ? row : { ...known, lockedUntilMs: row.lockedUntilMs };
    // Of several requests that find the lock expired, only one gets it.
    const { affected } = await this.db.write(() => this.table.update(held(known), next));
    if (affected !== 1) throw inFlight();
    return { row: next, isRepeat: !isExpired };
  }

  private unreserved(): Reservation {
    const id = this.ids.next();
    const create = <T>(work: (id: bigint) => Promise<T>) => withDrawnId(this.ids, work, id);
    return { id, isRepeat: false, create, complete: async () => {} };
  }

  private reservation<T>(
    row: IdempotencyKey,
    isRepeat: boolean,
    complete: Reservation<T>['complete'],
  ): Reservation<T> {
    const reserve = async (id: bigint) => {
      if (id === row.reservedId) return;
      row.reservedId = id;
      await this.db.write(() => this.table.update(held(row), { reservedId: id }));
    };
    return {
      get id() {
        return row.reservedId;
      },
      isRepeat,
      complete,
      create: (create) =>
        withDrawnId(
          this.ids,
          async (id) => {
            await reserve(id);
            try {
              return await create(id);
            } catch (error) {
              if (isRepeat && isDuplicateId(error)) return null;
              throw error;
            }
          },
          row.reservedId,
        ),
    };
  }

  /** Lets the client retry. After a fault the outcome is unknown, so the row stays with its reserved id. */
  private async release(row: IdempotencyKey, reason: unknown): Promise<void> {
    const wasRefused = reason instanceof AppError;
    try {
      await this.db.write(() =>
        wasRefused
          ? this.table.delete(held(row))
          : this.table.update(held(row), { lockedUntilMs: this.now() }),
      );
    } catch {
      // The database is unavailable; the lock expires automatically.
    }
  }
}

interface Claim {
  row: IdempotencyKey;
  isRepeat: boolean;
}

/** Matches the row while this attempt has the lock. */
function held({ projectId, keyDigest, lockedUntilMs }: IdempotencyKey) {
  return { projectId, keyDigest, lockedUntilMs };
}

function inFlight(): AppError {
  return new AppError(
    'conflict',
    'A request with this Idempotency-Key is still running. Try again shortly.',
    {
      retryAfterSeconds: 1,
    },
  );
}

/** A client's key, or one of the keys that the GraphQL door makes of it for several mutations. */
function checkedKey(key: string): string {
  if (/^[\x21-\x7e]{1,255}(\n\w+)?$/.test(key)) return key;
  const message = 'must be 1 to 255 visible ASCII characters';
  throw invalidRequest([{ field: 'Idempotency-Key', message }]);
}

function fingerprintPart(part: string | bigint | null | undefined): string | null {
  // Distinguishes "no value" from "not given".
  return part === undefined ? 'undefined' : part === null ? null : `${typeof part}:${part}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
