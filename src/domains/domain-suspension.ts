import { newestChange } from '../database/change-sequence.entity.js';
import type { Database } from '../database/database.js';
import { Project } from '../projects/project.entity.js';
import { Domain } from './domain.entity.js';
import type { DomainStore, Revision } from './domain.store.js';

const BATCH = 500;

/**
 * Suspends the domains of projects whose plan no longer allows any, and resumes them when it does again. The claim of the
 * name is kept meanwhile. Serving does not wait for this: it reads the plan itself.
 */
export class DomainSuspension {
  /** Changes of plans up to here have been looked at; null = none. */
  private seen: bigint | null = null;

  constructor(
    private readonly db: Database,
    private readonly store: DomainStore,
    private readonly now: () => number,
  ) {}

  /** One step: whatever is left is done by the next. */
  async run(): Promise<void> {
    const newest = await newestChange(this.db);
    if (newest === this.seen) return;
    // A database that lost its last changes in a failover gives their numbers to others.
    if (this.seen !== null && newest < this.seen) this.seen = null;
    const domains = await this.wrong();
    for (const { id, suspendedAtMs } of domains) {
      const becomes = suspendedAtMs === null ? this.suspend : this.resume;
      // Another process may have been faster.
      await this.store.revise(id, (newest) =>
        newest.suspendedAtMs === suspendedAtMs ? becomes(newest) : null,
      );
    }
    if (domains.length < BATCH) this.seen = newest;
  }

  private wrong(): Promise<Domain[]> {
    const query = this.db
      .repository(Domain)
      .createQueryBuilder('domain')
      .innerJoin(Project, 'project', 'project.id = domain.projectId')
      .where('domain.removedAtMs IS NULL')
      .andWhere("(project.plan = 'FREE') <> (domain.suspendedAtMs IS NOT NULL)")
      .limit(BATCH);
    // A domain may have been added while the plan was changed.
    if (this.seen !== null) {
      query.andWhere('(project.changeNumber > :seen OR domain.changeNumber > :seen)', { seen: this.seen });
    }
    return query.getMany();
  }

  private readonly suspend = ({ hostname }: Domain): Revision => ({
    changes: { suspendedAtMs: this.now(), nextCheckAtMs: null },
    happenings: [
      {
        name: 'domain.suspended',
        message: `${hostname} is not served: the plan allows no custom domains. The name stays yours.`,
      },
    ],
    isServed: true,
  });

  private readonly resume = ({ hostname }: Domain): Revision => ({
    changes: {
      suspendedAtMs: null,
      waitingSinceMs: this.now(),
      nextCheckAtMs: this.now(),
    },
    happenings: [{ name: 'domain.resumed', message: `${hostname} is looked after again.` }],
    isServed: true,
  });
}
