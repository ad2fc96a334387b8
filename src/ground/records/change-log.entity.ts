import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNT, INTEGER, ProjectOwned, TIME_MS, text } from '../database/columns.js';

export const CHANGE_KINDS = ['created', 'updated', 'deleted'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** The counter row of a project's change log. A project without a row has never had a log. */
@Entity('change_logs')
export class ChangeLogRow extends ProjectOwned {
  /** The number of the newest change. */
  @Column(COUNT)
  number!: number;

  /** The time of the newest change; it never goes back. */
  @Column({ ...TIME_MS, name: 'at_ms' })
  atMs!: number;

  /** Readers may use the log from this time on; null = it is off. */
  @Column({ ...TIME_MS, name: 'opens_at_ms', nullable: true })
  opensAtMs!: number | null;

  /** How many streams were agreed; only for an Enterprise project. Null = its plan says it. */
  @Column({ ...INTEGER, name: 'most_streams', nullable: true })
  mostStreams!: number | null;
}

/** A change of a record. Its number and `previousAtMs` name the change before it: see `Position`. */
@Entity('changes', { withoutRowid: true })
@Index('changes_at', ['atMs'])
export class ChangeRow extends ProjectOwned {
  @PrimaryColumn(COUNT)
  number!: number;

  @Column({ ...TIME_MS, name: 'at_ms' })
  atMs!: number;

  @Column({ ...TIME_MS, name: 'previous_at_ms' })
  previousAtMs!: number;

  /** The plural, which is the name of its table. */
  @Column(text(64))
  noun!: string;

  @Column(text(8))
  kind!: ChangeKind;

  /** JSON of the record after the change, or of the deleted one. 64-bit integers are text. */
  @Column({ type: 'text' })
  record!: string;

  /** JSON of the values that an update replaced; null = nothing was updated. */
  @Column({ type: 'text', nullable: true })
  replaced!: string | null;
}
