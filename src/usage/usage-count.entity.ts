import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNT, ID, INTEGER, text } from '../database/columns.js';
import type { Bucket } from './buckets.js';
import type { Series } from './usage-counters.js';

/** How many requests a project's keys made at a door in one UTC minute or day. */
@Entity('usage_counts', { withoutRowid: true })
@Index('usage_counts_age', ['bucket', 'number', 'projectId'])
export class UsageCount {
  @PrimaryColumn({ ...ID, name: 'project_id' })
  projectId!: bigint;

  @PrimaryColumn(text(8))
  bucket!: Bucket;

  /** Minutes and days are numbered from 1970. */
  @PrimaryColumn({ ...INTEGER, name: 'bucket_number' })
  number!: number;

  /** A door, or `manage`. */
  @PrimaryColumn(text(8))
  door!: Series;

  @Column(COUNT)
  admitted!: number;

  @Column(COUNT)
  refused!: number;
}
