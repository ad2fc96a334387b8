import { Column, Entity, PrimaryColumn } from 'typeorm';
import { COUNT, ID, TIME_MS, text } from '../../database/columns.js';

/** A content whose import into a project was completed, and added pets. A second import of it would repeat them. */
@Entity('imported_files', { withoutRowid: true })
export class ImportedFile {
  @PrimaryColumn({ ...ID, name: 'project_id' })
  projectId!: bigint;

  /** SHA-256 of the content, in hex. */
  @PrimaryColumn(text(64))
  fingerprint!: string;

  /** The number of pets. */
  @Column(COUNT)
  imported!: number;

  @Column({ ...TIME_MS, name: 'finished_at_ms' })
  finishedAtMs!: number;
}
