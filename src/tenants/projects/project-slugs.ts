import { LRUCache } from 'lru-cache';
import { In } from 'typeorm';
import type { Database } from '../../ground/database/database.js';
import { AppError } from '../../ground/kernel/errors.js';
import { SharedRuns } from '../../ground/scheduling/shared-runs.js';
import { Project } from './project.entity.js';
import { SLUG } from './project.rules.js';

const MAX_ENTRIES = 20_000;
/** Below 1 s: every process must find a new project within a second. */
const UNKNOWN_MS = 800;
const MAX_BATCH = 500;
/** The pause between two queries: a flood of invented names costs at most 50 queries a second. */
const PAUSE_MS = 20;
const IS_SLUG = new RegExp(SLUG);

/** Finds the project of a generated host name. */
export class ProjectSlugs {
  // Without a TTL: a project never changes its slug.
  private readonly known = new LRUCache<string, bigint>({ max: MAX_ENTRIES });
  private readonly unknown = new LRUCache<string, true>({ max: MAX_ENTRIES, ttl: UNKNOWN_MS });
  private readonly queries = new SharedRuns(() => this.load(), PAUSE_MS);
  /** Of the next query. */
  private readonly wanted = new Set<string>();

  constructor(private readonly db: Database) {}

  /** Null = there is no such project. Throws `AppError unavailable` when a batch has too many names. */
  projectOf(slug: string): bigint | null | Promise<bigint | null> {
    const projectId = this.known.get(slug);
    if (projectId !== undefined) return projectId;
    if (this.unknown.has(slug) || !IS_SLUG.test(slug)) return null;
    return this.ask(slug);
  }

  private async ask(slug: string): Promise<bigint | null> {
    if (this.wanted.size >= MAX_BATCH && !this.wanted.has(slug)) {
      const message = 'Too many host names are being looked up. Try again shortly.';
      throw new AppError('unavailable', message, { retryAfterSeconds: 1 });
    }
    this.wanted.add(slug);
    return (await this.queries.run()).get(slug) ?? null;
  }

  private async load(): Promise<ReadonlyMap<string, bigint>> {
    const slugs = [...this.wanted];
    this.wanted.clear();
    const where = { slug: In(slugs) };
    const rows = await this.db.repository(Project).find({ select: { id: true, slug: true }, where });
    const found = new Map(rows.map(({ id, slug }) => [slug, id]));
    for (const slug of slugs) {
      const projectId = found.get(slug);
      if (projectId === undefined) this.unknown.set(slug, true);
      else this.known.set(slug, projectId);
    }
    return found;
  }
}
