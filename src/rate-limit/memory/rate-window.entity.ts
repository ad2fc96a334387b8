import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { INTEGER, text } from '../../database/columns.js';

/** The last stored usage of a project, an allowance or a field. Obsolete once its day is over. */
@Entity('rate_windows', { withoutRowid: true })
@Index('rate_windows_day', ['day', 'subject'])
export class RateWindow {
  @PrimaryColumn(text(64))
  subject!: string;

  /** Windows are numbered from 1970. */
  @Column({ ...INTEGER, name: 'minute_number' })
  minute!: number;

  @Column({ ...INTEGER, name: 'minute_used' })
  minuteUsed!: number;

  @Column({ ...INTEGER, name: 'day_number' })
  day!: number;

  @Column({ ...INTEGER, name: 'day_used' })
  dayUsed!: number;
}
