import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNT, INTEGER, ProjectOwned, text } from '../../ground/database/columns.js';
import type { Bucket } from './buckets.js';
import type { Dimension } from './usage-counters.js';

/**
 * The requests of a project in a UTC minute, hour or day that have one name in one dimension. Without rowid, and in the
 * order of reads: one dimension of a window is one range.
 */
@Entity('usage_by_dimension', { withoutRowid: true })
@Index('usage_by_dimension_age', ['bucket', 'number', 'projectId'])
export class UsageCount extends ProjectOwned {
  @PrimaryColumn(text(8))
  bucket!: Bucket;

  @PrimaryColumn(text(16))
  dimension!: Dimension;

  /** Buckets are numbered from 1970. */
  @PrimaryColumn({ ...INTEGER, name: 'bucket_number' })
  number!: number;

  @PrimaryColumn(text(100))
  name!: string;

  @Column(COUNT)
  admitted!: number;

  @Column(COUNT)
  refused!: number;

  /** A part of `admitted`. */
  @Column(COUNT)
  failed!: number;

  /** Of the plan. Rows from before this column have none. */
  @Column({ ...COUNT, default: 0 })
  units!: number;
}
