import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, INTEGER, TIME_MS, text } from '../../ground/database/columns.js';
import type { Plan } from './plans.js';

/** A tenant. The slug is its generated subdomain. */
@Entity('projects')
export class Project {
  @PrimaryColumn(ID)
  id!: bigint;

  @Index('projects_slug', { unique: true })
  @Column(text(63))
  slug!: string;

  @Column(text(255))
  name!: string;

  @Column(text(16))
  plan!: Plan;

  /** Individually agreed quotas; only for Enterprise projects. */
  @Column({ ...INTEGER, name: 'per_minute', nullable: true })
  perMinute!: number | null;

  @Column({ ...INTEGER, name: 'per_day', nullable: true })
  perDay!: number | null;

  /** The last successful deploy; null = never. */
  @Column({ ...TIME_MS, name: 'published_at_ms', nullable: true })
  publishedAtMs!: number | null;

  @Column({ ...TIME_MS, name: 'created_at_ms' })
  createdAtMs!: number;
}
