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

/** All hosts that may be served, in memory, about 0.4 KB each. */
export class HostTable {
  private readonly hosts = new Map<string, Host>();
  /** By project. */
  private readonly primaries = new Map<bigint, Host>();

  /** The host, if it is attached and not suspended. `hostname` in lower case. */
  findHost(hostname: string): Host | null {
    return this.hosts.get(hostname) ?? null;
  }

  /** The project's primary domain, if it is attached and not suspended. */
  primaryOf(projectId: bigint): Host | null {
    return this.primaries.get(projectId) ?? null;
  }

  get size(): number {
    return this.hosts.size;
  }

  /** Applies changed rows. Returns the hosts that are no longer served. */
  put(rows: readonly HostRow[]): Host[] {
    return rows.map((row) => this.putRow(row)).filter((gone) => gone !== null);
  }

  /** The hosts of this table that the other does not have. */
  notIn(other: HostTable): Host[] {
    return [...this.hosts.values()].filter(
      ({ hostname, domainId }) => other.findHost(hostname)?.domainId !== domainId,
    );
  }

  /** The host that is no longer served because of this row, or null. */
  private putRow(row: HostRow): Host | null {
    const before = this.hosts.get(row.hostname) ?? null;
    const host = isServed(row) ? hostOf(row) : null;
    // Another domain may have the name now: a removed domain deletes only its own entry.
    if (host === null && before?.domainId !== row.id) return null;
    // The next primary domain may be in the table already.
    if (before && this.primaries.get(before.projectId) === before) this.primaries.delete(before.projectId);
    if (host) this.hosts.set(row.hostname, host);
    else this.hosts.delete(row.hostname);
    if (host?.isPrimary) this.primaries.set(host.projectId, host);
    return before?.domainId === host?.domainId ? null : before;
  }
}

function isServed({ attachedHostname, removedAtMs, suspendedAtMs }: HostRow): boolean {
  return attachedHostname !== null && removedAtMs === null && suspendedAtMs === null;
}

function hostOf(row: HostRow): Host {
  return {
    hostname: row.hostname,
    domainId: row.id,
    projectId: row.projectId,
    isVerified: row.verifiedAtMs !== null,
    certificateId: row.certificateId,
    certificateEndsAtMs: row.certificateId === null ? 0 : (row.certificateEndsAtMs ?? 0),
    redirect: row.redirectTo === null ? null : { to: row.redirectTo, status: row.redirectStatus ?? 301 },
    isPrimary: row.isPrimary,
  };
}
