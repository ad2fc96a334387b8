/**
 * Lifetime of a data version in milliseconds.
 *
 * Three kinds of writes are not announced: by the command line, by hand in the database, and by a process that died
 * during the write. Cached responses show such a write after this time at the latest.
 */
export const VERSION_MS = 500;

/**
 * The versions of each project's data of one noun. Data read after a version was issued is current until the version changes: every
 * write issues a new version before the write is acknowledged. D-38.
 */
export interface DataVersions {
  /** Runs a write of a project's data, and announces its start and its end. */
  change<T>(projectId: bigint, write: () => Promise<T>): Promise<T>;
}

/** The versions of every noun: a write of one leaves the cached responses of the others. */
export interface NounVersions {
  /** `noun` is its plural. */
  of(noun: string): DataVersions;
}

/** For processes that serve no requests: other processes see their writes after `VERSION_MS`. */
export const UNANNOUNCED: NounVersions = { of: () => ({ change: (_, write) => write() }) };

/** The versions of two sets of data: a write changes both. */
export function together(one: DataVersions, other: DataVersions): DataVersions {
  return { change: (projectId, write) => one.change(projectId, () => other.change(projectId, write)) };
}
