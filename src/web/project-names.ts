import { LRUCache } from 'lru-cache';
import type { ProjectService } from '../projects/project.service.js';

const MAX_ENTRIES = 1_000;
const KNOWN_MS = 10_000;

/** Display names of projects, cached for seconds, so that readers of a page put no load on the database. */
export class ProjectNames {
  private readonly known = new LRUCache<bigint, Promise<string>>({ max: MAX_ENTRIES, ttl: KNOWN_MS });

  constructor(private readonly projects: Pick<ProjectService, 'get'>) {}

  /** Throws `AppError not_found`, `AppError unavailable`. */
  nameOf(projectId: bigint): Promise<string> {
    const known = this.known.get(projectId);
    if (known) return known;
    const name = this.projects.get(projectId).then((project) => project.name);
    this.known.set(projectId, name);
    name.catch(() => this.known.delete(projectId));
    return name;
  }
}
