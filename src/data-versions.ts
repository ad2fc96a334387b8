/**
 * How old a data version gets. A write that was announced to nobody, as by a process that died in the middle of it, by
 * the command line, or by hand in the database, is seen after this time by whoever is answered from memory.
 */
export const VERSION_MS = 500;

/**
 * Names the states of each project's pets. What was read after a version was given out is current as long as that version
 * is: the end of every write gives out a new one, before the write is acknowledged.
 */
export interface DataVersions {
  /** Runs a write of a project's pets, between the announcements that it begins and that it has ended. */
  change<T>(projectId: bigint, write: () => Promise<T>): Promise<T>;
}

/** For processes that answer nobody: what they write is seen after `VERSION_MS`. */
export const UNANNOUNCED: DataVersions = { change: (_, write) => write() };
