import { Table } from 'typeorm';
import { int64, long, NewTables, optional, primary, text } from './tables.js';

/** The state of imports, and the contents that were imported, of every noun. */
export class Imports1780000005000 extends NewTables {
  protected readonly tables = [
    new Table({
      name: 'imports',
      withoutRowid: true,
      columns: [
        primary(int64('project_id')),
        primary(text('noun', 64)),
        primary(text('path_digest', 64)),
        text('fingerprint', 64),
        text('run_id', 36),
        int64('line'),
        int64('position_bytes'),
        int64('imported'),
        int64('refused'),
        int64('report_bytes'),
        long('report_path'),
        optional(int64('finished_at_ms')),
      ],
    }),
    new Table({
      name: 'imported_contents',
      withoutRowid: true,
      columns: [
        primary(int64('project_id')),
        primary(text('noun', 64)),
        primary(text('fingerprint', 64)),
        int64('imported'),
        int64('finished_at_ms'),
      ],
    }),
  ];
}
