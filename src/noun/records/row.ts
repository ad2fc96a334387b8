import type { RecordRow } from '../../tenants/files/noun-files.js';

/** A record as the database has it: the values that every record has, and its fields. */
export type NounRow = RecordRow & Record<string, unknown>;
