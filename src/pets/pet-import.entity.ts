import { Column, Entity, PrimaryColumn } from 'typeorm';
import { COUNT, ID, TIME_MS, text } from '../database/columns.js';

/** How far the import of one file into one project has come. Changes together with the pets of each batch, or not at all. */
@Entity('pet_imports', { withoutRowid: true })
export class PetImport {
  @PrimaryColumn({ ...ID, name: 'project_id' })
  projectId!: bigint;

  /** Of the file's absolute path, in hex. */
  @PrimaryColumn({ ...text(64), name: 'path_digest' })
  pathDigest!: string;

  /** Of the file's content; tells whether it is still the same. */
  @Column(text(64))
  fingerprint!: string;

  /** The process that imports. One that finds another's here has lost the file to it, and stops. */
  @Column({ ...text(36), name: 'run_id' })
  runId!: string;

  /** The last line that was dealt with; 0 = none. */
  @Column(COUNT)
  line!: number;

  /** Where in the file the next line begins. */
  @Column({ ...COUNT, name: 'position_bytes' })
  positionBytes!: number;

  @Column(COUNT)
  imported!: number;

  @Column(COUNT)
  refused!: number;

  /** How much of the report of refused rows is about lines up to `line`. */
  @Column({ ...COUNT, name: 'report_bytes' })
  reportBytes!: number;

  /** The file with the refused rows: absolute. */
  @Column({ type: 'text', name: 'report_path' })
  reportPath!: string;

  /** null = interrupted, or running. */
  @Column({ ...TIME_MS, name: 'finished_at_ms', nullable: true })
  finishedAtMs!: number | null;
}
