import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { In } from 'typeorm';
import type { Database } from '../../ground/database/database.js';
import { AppError } from '../../ground/kernel/errors.js';
import { Project } from './project.entity.js';
import { SLUG } from './project.rules.js';

const MAX_ENTRIES = 20_000;
/** Below 1 s: every process must find a new project within a second. */
const UNKNOWN_MS = 800;
const MAX_BATCH = 500;
/** The pause between two queries: a flood of invented names costs at most 50 queries a second. */
const PAUSE_MS = 20;
const IS_SLUG = new RegExp(SLUG);

type Found = ReadonlyMap<string, bigint>;

/** Finds the project of a generated host name. Only one query runs at a time, followed by a pause. */
export class ProjectSlugs {
  // Without a TTL: a project never changes its slug.
  private readonly known = new LRUCache<string, bigint>({ max: MAX_ENTRIES });
  private readonly unknown = new LRUCache<string, true>({ max: MAX_ENTRIES, ttl: UNKNOWN_MS });
  private running: Promise<unknown> = Promise.resolve();
  private batch: { slugs: Set<string>; found: Promise<Found> } | null = null;

  constructor(private readonly db: Database) {}

  /** Null = there is no such project. Throws `AppError unavailable` when a batch has too many names. */
  projectOf(slug: string): bigint | null | Promise<bigint | null> {
    const projectId = this.known.get(slug);
    if (projectId !== undefined) return projectId;
    if (this.unknown.has(slug) || !IS_SLUG.test(slug)) return null;
    return this.ask(slug);
  }

  private async ask(slug: string): Promise<bigint | null> {
    this.batch ??= this.nextBatch();
    const { slugs, found } = this.batch;
    if (slugs.size >= MAX_BATCH && !slugs.has(slug)) {
      const message = 'Too many host names are being looked up. Try again shortly.';
      throw new AppError('unavailable', message, { retryAfterSeconds: 1 });
    }
    slugs.add(slug);
    return (await found).get(slug) ?? null;
  }

  /** Collects names until the previous query and its pause have ended. */
  private nextBatch(): NonNullable<typeof this.batch> {
    const slugs = new Set<string>();
    const found = this.running.then(() => {
      this.batch = null;
      return this.load([...slugs]);
    });
    this.running = found.catch(() => {}).then(() => sleep(PAUSE_MS));
    return { slugs, found };
  }

  private async load(slugs: string[]): Promise<Found> {
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
