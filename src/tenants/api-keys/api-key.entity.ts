import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { BOOLEAN, ID, TIME_MS, text } from '../../ground/database/columns.js';
import { MAX_SCOPES_LENGTH, type Scope, type Scopes } from '../../ground/kernel/caller.js';

/** An API key as stored: without the bearer token itself. */
@Entity('api_keys')
@Index('api_keys_project', ['projectId', 'revokedAtMs'])
export class ApiKey {
  @PrimaryColumn(ID)
  id!: bigint;

  @Column({ ...ID, name: 'project_id' })
  projectId!: bigint;

  @Column(text(255))
  name!: string;

  /** The token's first characters, for recognition. */
  @Column(text(16))
  prefix!: string;

  /**
   * SHA-256 of the token in hex. 160 random bits need no slow hash, and a slow hash would let attackers exhaust the CPU.
   */
  @Index('api_keys_digest', { unique: true })
  @Column(text(64))
  digest!: string;

  /** Scopes joined by commas. */
  @Column(text(MAX_SCOPES_LENGTH))
  scopes!: string;

  /** Whether it may request simulated refusals on staging. */
  @Column({ ...BOOLEAN, default: 0 })
  rehearses!: boolean;

  @Column({ ...TIME_MS, name: 'created_at_ms' })
  createdAtMs!: number;

  @Column({ ...TIME_MS, name: 'expires_at_ms', nullable: true })
  expiresAtMs!: number | null;

  @Column({ ...TIME_MS, name: 'revoked_at_ms', nullable: true })
  revokedAtMs!: number | null;

  /** Accurate to about a minute; null = never. */
  @Column({ ...TIME_MS, name: 'last_used_at_ms', nullable: true })
  lastUsedAtMs!: number | null;

  /** The key that replaced this one when it was rolled. */
  @Column({ ...ID, name: 'successor_id', nullable: true })
  successorId!: bigint | null;
}

/** The scopes of a key. The list omits a scope of a newer version, or of a noun that is no longer served. */
export function scopesOf({ scopes }: Pick<ApiKey, 'scopes'>, ofGateway: Scopes): Scope[] {
  return ofGateway.known(scopes.split(','));
}
