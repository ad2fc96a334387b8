import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, INTEGER, TIME_MS, text } from '../database/columns.js';

/** What is stored of an API key: never the bearer token itself. */
@Entity('api_keys')
@Index('api_keys_project', ['projectId', 'revokedAtMs'])
export class ApiKey {
  @PrimaryColumn(ID)
  id!: bigint;

  @Column({ ...ID, name: 'project_id' })
  projectId!: bigint;

  @Column(text(255))
  name!: string;

  /** The token's first characters, to recognise it by. */
  @Column(text(16))
  prefix!: string;

  /** SHA-256 of the token in hex. 160 random bits need no slow hash, and a slow one is a way to attack the CPU. */
  @Index('api_keys_digest', { unique: true })
  @Column(text(64))
  digest!: string;

  /** Scopes joined by commas. */
  @Column(text(255))
  scopes!: string;

  /** 1 = may ask for refusals on the staging environment. */
  @Column({ ...INTEGER, default: 0 })
  rehearses!: number;

  @Column({ ...TIME_MS, name: 'created_at_ms' })
  createdAtMs!: number;

  @Column({ ...TIME_MS, name: 'expires_at_ms', nullable: true })
  expiresAtMs!: number | null;

  @Column({ ...TIME_MS, name: 'revoked_at_ms', nullable: true })
  revokedAtMs!: number | null;

  /** To about a minute; null = never. */
  @Column({ ...TIME_MS, name: 'last_used_at_ms', nullable: true })
  lastUsedAtMs!: number | null;

  /** The key it was rolled into. */
  @Column({ ...ID, name: 'successor_id', nullable: true })
  successorId!: bigint | null;
}
