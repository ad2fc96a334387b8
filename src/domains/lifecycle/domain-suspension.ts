import { newestChange } from '../../ground/database/change-sequence.entity.js';
import type { Database } from '../../ground/database/database.js';
import { PLAN_WITHOUT_DOMAINS } from '../../tenants/projects/plans.js';
import { Project } from '../../tenants/projects/project.entity.js';
import { Domain } from '../store/domain.entity.js';
import type { DomainStore, Revision } from '../store/domain.store.js';

const BATCH = 500;

/**
 * Suspends domains when the plan of their project no longer allows custom domains, and resumes them when it does. A
 * suspended domain keeps its claim. Serving does not wait for this: it reads the plan itself.
 */
export class DomainSuspension {
  /** The last processed change number; null = none. */
  private seen: bigint | null = null;

  constructor(
    private readonly db: Database,
    private readonly store: DomainStore,
    private readonly now: () => number,
  ) {}

  /** Processes one batch; the next run continues. */
  async run(): Promise<void> {
    const newest = await newestChange(this.db);
    if (newest === this.seen) return;
    // A database that lost its last changes in a failover reuses their numbers.
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
      .andWhere('(project.plan = :plan) <> (domain.suspendedAtMs IS NOT NULL)', {
        plan: PLAN_WITHOUT_DOMAINS,
      })
      .limit(BATCH);
    // A domain may have been added during the change of the plan.
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
        message: `${hostname} is no longer served: the plan has no custom domains. The name stays yours.`,
      },
    ],
    affectsServing: true,
  });

  private readonly resume = ({ hostname }: Domain): Revision => ({
    changes: {
      suspendedAtMs: null,
      waitingSinceMs: this.now(),
      nextCheckAtMs: this.now(),
    },
    happenings: [{ name: 'domain.resumed', message: `${hostname} is no longer suspended.` }],
    affectsServing: true,
  });
}
