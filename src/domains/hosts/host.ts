import type { Domain, SERVED_COLUMNS } from '../store/domain.entity.js';

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
export type HostRow = Pick<Domain, keyof typeof SERVED_COLUMNS>;

/** Null = the host is not served. */
export function servedHost(row: HostRow): Host | null {
  const { removedAtMs, suspendedAtMs } = row;
  const isServed = removedAtMs === null && suspendedAtMs === null;
  if (!isServed) return null;
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
