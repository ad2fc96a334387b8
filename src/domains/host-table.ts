import type { Plan } from '../projects/plans.js';
import type { Domain } from './domain.entity.js';

/** An attached host name, as far as serving it needs. */
export interface Host {
  readonly hostname: string;
  readonly domainId: bigint;
  readonly projectId: bigint;
  /** Whether its DNS ever led here. */
  readonly isVerified: boolean;
  readonly certificateId: bigint | null;
  /** 0 = there is no certificate. */
  readonly certificateEndsAtMs: number;
  /** Where its visitors are sent instead of being served. */
  readonly redirect: { readonly to: string; readonly status: number } | null;
  readonly isPrimary: boolean;
}

/** The columns of a domain that serving needs. */
export const HOST_COLUMNS = {
  id: true,
  projectId: true,
  hostname: true,
  attachedHostname: true,
  verifiedAtMs: true,
  certificateId: true,
  certificateEndsAtMs: true,
  isPrimary: true,
  redirectTo: true,
  redirectStatus: true,
  suspendedAtMs: true,
  removedAtMs: true,
  changeNumber: true,
} as const satisfies Partial<Record<keyof Domain, true>>;

export type HostRow = Pick<Domain, keyof typeof HOST_COLUMNS>;

export interface PlanRow {
  id: bigint;
  plan: Plan;
}

interface HostProject {
  readonly id: bigint;
  plan: Plan;
  hosts: number;
}

interface Entry extends Host {
  readonly project: HostProject;
  readonly isSuspended: boolean;
}

/** All attached host names in memory, about 0.4 KB each, and the plans of the projects that have them. */
export class HostTable {
  private readonly entries = new Map<string, Entry>();
  private readonly projects = new Map<bigint, HostProject>();

  /** The host, if it may be served at all: attached, and not suspended. `hostname` in lower case. */
  find(hostname: string): Host | null {
    const entry = this.entries.get(hostname);
    return entry && isServed(entry) ? entry : null;
  }

  get size(): number {
    return this.entries.size;
  }

  /** Projects whose plan must be put before these rows. */
  missingProjects(rows: readonly HostRow[]): bigint[] {
    const attached = rows.filter(({ attachedHostname }) => attachedHostname !== null);
    return [...new Set(attached.map(({ projectId }) => projectId))].filter((id) => !this.projects.has(id));
  }

  /** Takes the rows over; the hosts that were served and are not any more. */
  put(rows: readonly HostRow[], newProjects: readonly PlanRow[]): Host[] {
    for (const { id, plan } of newProjects) this.projects.set(id, { id, plan, hosts: 0 });
    const gone = rows.map((row) => this.putRow(row)).filter((entry) => entry !== null);
    for (const { id } of newProjects) this.forgetUnused(this.projects.get(id));
    return gone;
  }

  /** Takes over changed plans of projects that have hosts; the hosts that are not served any more. */
  putPlans(plans: readonly PlanRow[]): Host[] {
    const suspended = new Set<HostProject>();
    for (const { id, plan } of plans) {
      const project = this.projects.get(id);
      if (project && project.plan !== 'FREE' && plan === 'FREE') suspended.add(project);
      if (project) project.plan = plan;
    }
    if (suspended.size === 0) return [];
    return [...this.entries.values()].filter(({ project }) => suspended.has(project));
  }

  /** The hosts served by this table and not by the other. */
  notIn(other: HostTable): Host[] {
    return [...this.entries.values()].filter((entry) => {
      return isServed(entry) && other.find(entry.hostname)?.domainId !== entry.domainId;
    });
  }

  /** The host that the row takes away, or null. */
  private putRow(row: HostRow): Entry | null {
    const before = this.entries.get(row.hostname) ?? null;
    if (row.attachedHostname === null || row.removedAtMs !== null) {
      // The name may be another domain's by now: a tombstone takes away only its own.
      if (before?.domainId !== row.id) return null;
      this.entries.delete(row.hostname);
      this.leave(before.project);
      return before;
    }
    // A project that is not there any more can't be served.
    const project = this.projects.get(row.projectId) ?? { id: row.projectId, plan: 'FREE', hosts: 0 };
    const entry = entryOf(row, project);
    this.projects.set(project.id, project);
    project.hosts += 1;
    if (before) this.leave(before.project);
    this.entries.set(row.hostname, entry);
    if (!before) return null;
    return before.domainId !== row.id || (isServed(before) && !isServed(entry)) ? before : null;
  }

  private leave(project: HostProject): void {
    project.hosts -= 1;
    this.forgetUnused(project);
  }

  private forgetUnused(project: HostProject | undefined): void {
    if (project?.hosts === 0) this.projects.delete(project.id);
  }
}

function isServed({ project, isSuspended }: Entry): boolean {
  return !isSuspended && project.plan !== 'FREE';
}

function entryOf(row: HostRow, project: HostProject): Entry {
  return {
    hostname: row.hostname,
    domainId: row.id,
    // Not the row's: a bigint is an object in memory, and the project's is there once.
    projectId: project.id,
    isVerified: row.verifiedAtMs !== null,
    certificateId: row.certificateId,
    certificateEndsAtMs: row.certificateId === null ? 0 : (row.certificateEndsAtMs ?? 0),
    redirect: row.redirectTo === null ? null : { to: row.redirectTo, status: row.redirectStatus ?? 301 },
    isPrimary: row.isPrimary === 1,
    project,
    isSuspended: row.suspendedAtMs !== null,
  };
}
