import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { INTEGER, text } from '../database/columns.js';

/** What a project had spent when it was last written down. Of no meaning once its day is over. */
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
