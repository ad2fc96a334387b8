import { allowsCustomDomains, PLAN_WITHOUT_DOMAINS, type Plan } from '../../tenants/projects/plans.js';
import type { Domain } from '../store/domain.entity.js';

/** An attached host name, with the facts that serving needs. */
export interface Host {
  readonly hostname: string;
  readonly domainId: bigint;
  readonly projectId: bigint;
  /** Whether its DNS ever pointed here. */
  readonly isVerified: boolean;
  readonly certificateId: bigint | null;
  /** 0 = no certificate. */
  readonly certificateEndsAtMs: number;
  /** The redirect for visitors; null = the host serves the project. */
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
  primary: Entry | null;
}

interface Entry extends Host {
  readonly project: HostProject;
  readonly isSuspended: boolean;
}

/** All attached host names in memory, about 0.4 KB each, and the plans of the projects that have them. */
export class HostTable {
  private readonly entries = new Map<string, Entry>();
  private readonly projects = new Map<bigint, HostProject>();

  /** The host, if it is attached and not suspended. `hostname` in lower case. */
  findHost(hostname: string): Host | null {
    const entry = this.entries.get(hostname);
    return entry && isServed(entry) ? entry : null;
  }

  /** The project's primary domain, if it is attached and not suspended. */
  primaryOf(projectId: bigint): Host | null {
    const primary = this.projects.get(projectId)?.primary ?? null;
    return primary && isServed(primary) ? primary : null;
  }

  get size(): number {
    return this.entries.size;
  }

  /** Projects of these rows whose plans are not in the table yet. */
  missingProjects(rows: readonly HostRow[]): bigint[] {
    const attached = rows.filter(({ attachedHostname }) => attachedHostname !== null);
    return [...new Set(attached.map(({ projectId }) => projectId))].filter((id) => !this.projects.has(id));
  }

  /** Applies changed rows. Returns the hosts that are no longer served. */
  put(rows: readonly HostRow[], newProjects: readonly PlanRow[]): Host[] {
    for (const { id, plan } of newProjects) this.projects.set(id, { id, plan, hosts: 0, primary: null });
    const gone = rows.map((row) => this.putRow(row)).filter((entry) => entry !== null);
    for (const { id } of newProjects) this.forgetUnused(this.projects.get(id));
    return gone;
  }

  /** Updates the plans of projects that have hosts. Returns the hosts that are no longer served. */
  putPlans(plans: readonly PlanRow[]): Host[] {
    const suspended = new Set<HostProject>();
    for (const { id, plan } of plans) {
      const project = this.projects.get(id);
      if (project && allowsCustomDomains(project.plan) && !allowsCustomDomains(plan)) suspended.add(project);
      if (project) project.plan = plan;
    }
    if (suspended.size === 0) return [];
    return [...this.entries.values()].filter(({ project }) => suspended.has(project));
  }

  /** The hosts that this table serves and the other does not. */
  notIn(other: HostTable): Host[] {
    return [...this.entries.values()].filter((entry) => {
      return isServed(entry) && other.findHost(entry.hostname)?.domainId !== entry.domainId;
    });
  }

  /** The entry that is no longer served because of this row, or null. */
  private putRow(row: HostRow): Entry | null {
    const before = this.entries.get(row.hostname) ?? null;
    if (row.attachedHostname === null || row.removedAtMs !== null) {
      // Another domain may have the name now: a removed domain deletes only its own entry.
      if (before?.domainId !== row.id) return null;
      this.entries.delete(row.hostname);
      this.leave(before);
      return before;
    }
    // The project does not exist any more, so its plan is unknown and its hosts are not served.
    const gone: HostProject = { id: row.projectId, plan: PLAN_WITHOUT_DOMAINS, hosts: 0, primary: null };
    const project = this.projects.get(row.projectId) ?? gone;
    const entry = entryOf(row, project);
    this.projects.set(project.id, project);
    project.hosts += 1;
    if (before) this.leave(before);
    if (entry.isPrimary) project.primary = entry;
    this.entries.set(row.hostname, entry);
    if (!before) return null;
    return before.domainId !== row.id || (isServed(before) && !isServed(entry)) ? before : null;
  }

  private leave(entry: Entry): void {
    const { project } = entry;
    project.hosts -= 1;
    // The next primary domain may be in the table already.
    if (project.primary === entry) project.primary = null;
    this.forgetUnused(project);
  }

  private forgetUnused(project: HostProject | undefined): void {
    if (project?.hosts === 0) this.projects.delete(project.id);
  }
}

function isServed({ project, isSuspended }: Entry): boolean {
  return !isSuspended && allowsCustomDomains(project.plan);
}

function entryOf(row: HostRow, project: HostProject): Entry {
  return {
    hostname: row.hostname,
    domainId: row.id,
    // The project's bigint instead of the row's: a bigint is a heap object, and this one is shared.
    projectId: project.id,
    isVerified: row.verifiedAtMs !== null,
    certificateId: row.certificateId,
    certificateEndsAtMs: row.certificateId === null ? 0 : (row.certificateEndsAtMs ?? 0),
    redirect: row.redirectTo === null ? null : { to: row.redirectTo, status: row.redirectStatus ?? 301 },
    isPrimary: row.isPrimary,
    project,
    isSuspended: row.suspendedAtMs !== null,
  };
}
