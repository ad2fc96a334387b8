/**
 * A backup is gzipped NDJSON: a header, then for each table a line with its columns and one line for each row, then a
 * trailer. A value is a string or null; integers are strings of digits, because JSON numbers are not exact above 2^53.
 */
export const FORMAT = 'petstore-backup';
export const FORMAT_VERSION = 1;

export interface BackupHeader {
  format: typeof FORMAT;
  formatVersion: number;
  /** The newest migration of the database. */
  schema: string;
  /** ISO 8601. */
  createdAt: string;
  /** The release that wrote the file. */
  version: string;
  /** `sqlite`, `mysql` or `mariadb`. */
  database: string;
}

export interface BackupTable {
  table: string;
  columns: string[];
}

/** The values of a row, in the order of the table's columns. */
export type BackupRow = (string | null)[];

export interface BackupTrailer {
  end: true;
  /** The number of rows of each table. */
  rows: Record<string, number>;
  /** SHA-256 of all lines before this one, uncompressed, in hexadecimal. */
  sha256: string;
}

/** The content of a complete, undamaged file. */
export interface BackupContent {
  header: BackupHeader;
  tables: BackupTable[];
  rows: Record<string, number>;
}

export function totalOf(rows: Readonly<Record<string, number>>): number {
  return Object.values(rows).reduce((sum, count) => sum + count, 0);
}
