import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ProjectOwned, TIME_MS, text } from '../../ground/database/columns.js';

/** A project's use of an Idempotency-Key, stored from before the work until 24 hours later. */
@Entity('idempotency_keys', { withoutRowid: true })
export class IdempotencyKey extends ProjectOwned {
  /** SHA-256 of the client's key: a collation must not make `A` and `a` the same key. */
  @PrimaryColumn({ ...text(64), name: 'key_digest' })
  keyDigest!: string;

  /** SHA-256 of the operation and its input. */
  @Column(text(64))
  fingerprint!: string;

  /** Until this time the attempt counts as running. */
  @Column({ ...TIME_MS, name: 'locked_until_ms' })
  lockedUntilMs!: number;

  /** The result as JSON; null = not finished. */
  @Column({ type: 'text', nullable: true })
  result!: string | null;

  @Index('idempotency_keys_expiry')
  @Column({ ...TIME_MS, name: 'expires_at_ms' })
  expiresAtMs!: number;
}
