import { Column, Entity, PrimaryColumn } from 'typeorm';
import { COUNT, ProjectOwned, TIME_MS, text } from '../../ground/database/columns.js';

/** The progress of a file's import into a project. Updated in the same transaction as the records of each batch. */
@Entity('imports', { withoutRowid: true })
export class FileImport extends ProjectOwned {
  /** The noun of its records, in plural. Several nouns may import the same file. */
  @PrimaryColumn(text(64))
  noun!: string;

  /** SHA-256 of the file's absolute path, in hex. */
  @PrimaryColumn({ ...text(64), name: 'path_digest' })
  pathDigest!: string;

  /** SHA-256 of the content, in hex; shows whether the file has changed. */
  @Column(text(64))
  fingerprint!: string;

  /** The process that imports. A process that finds another id here has lost the import, and stops. */
  @Column({ ...text(36), name: 'run_id' })
  runId!: string;

  /** The last processed line; 0 = none. */
  @Column(COUNT)
  line!: number;

  /** The start of the next line in the file. */
  @Column({ ...COUNT, name: 'position_bytes' })
  positionBytes!: number;

  @Column(COUNT)
  imported!: number;

  @Column(COUNT)
  refused!: number;

  /** The size of the file of refused rows up to `line`. */
  @Column({ ...COUNT, name: 'report_bytes' })
  reportBytes!: number;

  /** The absolute path of the file of refused rows. */
  @Column({ type: 'text', name: 'report_path' })
  reportPath!: string;

  /** Null = interrupted or running. */
  @Column({ ...TIME_MS, name: 'finished_at_ms', nullable: true })
  finishedAtMs!: number | null;
}

/** A content whose import into a project was completed, and added records. A second import of it would repeat them. */
@Entity('imported_contents', { withoutRowid: true })
export class ImportedContent extends ProjectOwned {
  /** The noun of its records, in plural. */
  @PrimaryColumn(text(64))
  noun!: string;

  /** SHA-256 of the content, in hex. */
  @PrimaryColumn(text(64))
  fingerprint!: string;

  /** The number of records. */
  @Column(COUNT)
  imported!: number;

  @Column({ ...TIME_MS, name: 'finished_at_ms' })
  finishedAtMs!: number;
}
