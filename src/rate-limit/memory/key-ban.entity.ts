import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { BOOLEAN, INTEGER, TIME_MS, text } from '../../database/columns.js';

/** A key's strikes, ladder step and ban, as in `BanRecord`. The connection is not stored, as it ends with the process. */
@Entity('key_bans', { withoutRowid: true })
export class KeyBanRow {
  @PrimaryColumn({ ...text(64), name: 'key_id' })
  keyId!: string;

  @Column(INTEGER)
  strikes!: number;

  @Column({ ...INTEGER, name: 'ladder_step' })
  step!: number;

  @Column({ ...TIME_MS, name: 'quiet_since_ms' })
  quietSinceMs!: number;

  @Column({ ...TIME_MS, name: 'until_ms' })
  untilMs!: number;

  @Column({ ...TIME_MS, name: 'refused_at_ms' })
  refusedAtMs!: number;

  @Column({ ...TIME_MS, name: 'retry_at_ms' })
  retryAtMs!: number;

  /** From this time the row means the same as no row. */
  @Index('key_bans_end')
  @Column({ ...TIME_MS, name: 'meaningless_at_ms' })
  meaninglessAtMs!: number;

  /** Another process has lifted the ban: the counting process forgets the key and removes the row. */
  @Index('key_bans_lifted')
  @Column({ ...BOOLEAN, name: 'is_lifted' })
  isLifted!: boolean;
}
