import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNT, ID, INTEGER } from '../database/columns.js';

/** How many requests of a project the log did not keep, or keeps no more, in a UTC minute. */
@Entity('requests_left_out', { withoutRowid: true })
@Index('requests_left_out_age', ['minute', 'projectId'])
export class LeftOutCount {
  @PrimaryColumn({ ...ID, name: 'project_id' })
  projectId!: bigint;

  /** Numbered from 1970. */
  @PrimaryColumn(INTEGER)
  minute!: number;

  @Column({ ...COUNT, name: 'left_out' })
  leftOut!: number;
}
