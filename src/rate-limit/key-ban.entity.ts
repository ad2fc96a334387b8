import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { INTEGER, TIME_MS, text } from '../database/columns.js';

/** A key's strikes, its place on the ban ladder and its ban, as `BanRecord` has them; connections do not outlive a process. */
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

  /** From then on the row says no more than no row. */
  @Index('key_bans_end')
  @Column({ ...TIME_MS, name: 'meaningless_at_ms' })
  meaninglessAtMs!: number;

  /** Somebody has ended the ban from outside the process that counts; it forgets the key and removes the row. */
  @Index('key_bans_lifted')
  @Column({ ...INTEGER, name: 'is_lifted' })
  isLifted!: 0 | 1;
}
