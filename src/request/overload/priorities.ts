import { PLAN_NAMES, type Plan } from '../../tenants/projects/plans.js';

/** The project of a request, as far as this process remembers its key. */
export interface Tenant {
  projectId: bigint;
  plan: Plan;
}

/** A project's requests during an overload. Requests of unknown keys count as one project, with a plan below FREE. */
export interface ActiveProject {
  readonly plan: Plan | null;
  readonly weight: number;
  inFlight: number;
  /** Of the current turn of the event loop. */
  queued: number;
  /** In the current window. */
  isSeen: boolean;
}

const OF_FREE = 0.45;
const FOR_EACH_PLAN = 0.05;
/** Such requests may begin at the limit, and up to 1.2 times it: the limit may fall faster than requests end. */
const WITHIN_FAIR_SHARE = 0.55;
const FOR_GRAPHQL = 0.05;
/** As of one more project, so that a single busy project leaves room for the first request of a neighbour. */
const SPARE_WEIGHT = 4;

/**
 * The part of the limit that may be in use when a request is admitted: more for a higher plan, and most within the fair
 * share of its project. Management comes through GraphQL and is known only after parsing, so GraphQL has a reserve.
 */
export function usablePart(plan: Plan | null, isGraphQL: boolean, isWithinFairShare: boolean): number {
  const ofPlan = OF_FREE + FOR_EACH_PLAN * rankOf(plan);
  return ofPlan + (isWithinFairShare ? WITHIN_FAIR_SHARE : 0) + (isGraphQL ? FOR_GRAPHQL : 0);
}

/** The projects that have sent requests in the last windows. Empty while nothing is overloaded. */
export class ActiveProjects {
  private readonly byId = new Map<bigint | null, ActiveProject>();
  private totalWeight = SPARE_WEIGHT;

  of(tenant: Tenant | null): ActiveProject {
    const { projectId = null, plan = null } = tenant ?? {};
    const known = this.byId.get(projectId);
    if (known) return known;
    const made = { plan, weight: 2 ** rankOf(plan), inFlight: 0, queued: 0, isSeen: true };
    this.byId.set(projectId, made);
    this.totalWeight += made.weight;
    return made;
  }

  /** Requests that the project may have in flight when all projects want more: each plan has twice as many as the one below. */
  fairShare({ weight }: ActiveProject, limit: number): number {
    return Math.max(1, (limit * weight) / this.totalWeight);
  }

  endWindow(): void {
    for (const [id, project] of this.byId) {
      if (!project.isSeen && project.inFlight === 0) {
        this.byId.delete(id);
        this.totalWeight -= project.weight;
      }
      project.isSeen = false;
    }
  }
}

function rankOf(plan: Plan | null): number {
  return plan === null ? -1 : PLAN_NAMES.indexOf(plan);
}
