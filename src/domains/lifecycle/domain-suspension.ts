import { type EntityManager, IsNull, Not } from 'typeorm';
import { nextChange } from '../../ground/database/change-sequence.entity.js';
import type { Database } from '../../ground/database/database.js';
import type { IdGenerator } from '../../ground/kernel/ids.js';
import { allowsCustomDomains } from '../../tenants/projects/plans.js';
import type { Project } from '../../tenants/projects/project.entity.js';
import { DomainStore, type Revision } from '../store/domain.store.js';

/**
 * Suspends the project's domains when its plan does not allow custom domains, and resumes them when it does. A suspended
 * domain keeps its claim. Joins the transaction that changes the plan, so no domain is served under a lapsed plan. D-221.
 */
export async function followPlan(
  { db, ids }: { db: Database; ids: IdGenerator },
  manager: EntityManager,
  { id: projectId, plan }: Project,
  atMs: number,
): Promise<void> {
  // The process that changes the plan may serve no hosts; those that do read the change.
  const store = new DomainStore(db, ids, { onEvent() {}, onChange() {}, async syncHosts() {} }, () => atMs);
  // The lock that a new domain needs: it is attached before this, and found here, or reads the new plan.
  await nextChange(manager);
  const isAllowed = allowsCustomDomains(plan);
  const suspendedAtMs = isAllowed ? Not(IsNull()) : IsNull();
  await store.reviseIn(manager, { projectId, suspendedAtMs }, ({ hostname }): Revision => {
    if (isAllowed) {
      const message = `${hostname} is no longer suspended.`;
      const changes = { suspendedAtMs: null, waitingSinceMs: atMs, nextCheckAtMs: atMs };
      return { changes, happenings: [{ name: 'domain.resumed', message }] };
    }
    const message = `${hostname} is no longer served: the plan has no custom domains. The name stays yours.`;
    const changes = { suspendedAtMs: atMs, nextCheckAtMs: null };
    return { changes, happenings: [{ name: 'domain.suspended', message }] };
  });
}
