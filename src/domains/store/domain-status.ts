// Apart from the entity: the command line prints a status, and its help loads no database library.

import { AppError } from '../../ground/kernel/errors.js';
import type { Domain } from './domain.entity.js';

/** The headline status of a domain, with its meaning. */
export const DOMAIN_STATUSES = {
  PENDING_DNS: 'Attached; its DNS records have not been seen yet.',
  OWNERSHIP_REQUIRED: 'A TXT record must prove that the name is yours.',
  DNS_FAILED: 'The DNS records are not right; `diagnoses` says why.',
  VERIFIED: 'DNS is right; a certificate will be ordered.',
  ISSUING: 'A certificate is being ordered.',
  ISSUE_FAILED: 'No certificate was issued; `diagnoses` says why. It is retried automatically.',
  ACTIVE: 'Served with a valid certificate.',
  DRIFTED: 'Still served, but DNS no longer points here: the certificate will not be renewed.',
  EXPIRED: 'Not served, because the certificate expired.',
  SUSPENDED: 'Not served because of the plan; the name stays yours.',
  REMOVED: 'Removed from the project.',
} as const;

export type DomainStatus = keyof typeof DOMAIN_STATUSES;

/** The status at a time, derived from the stored axes. */
export function statusOf(domain: Domain, atMs: number): DomainStatus {
  const { certificateEndsAtMs, dns, ownership, orderState } = domain;
  if (domain.removedAtMs !== null) return 'REMOVED';
  if (domain.suspendedAtMs !== null) return 'SUSPENDED';
  if (certificateEndsAtMs !== null && certificateEndsAtMs > atMs) {
    return dns === 'DRIFTED' ? 'DRIFTED' : 'ACTIVE';
  }
  if (certificateEndsAtMs !== null) return 'EXPIRED';
  if (ownership === 'REQUIRED') return 'OWNERSHIP_REQUIRED';
  if (dns === 'PENDING') return 'PENDING_DNS';
  if (dns !== 'MATCHES') return 'DNS_FAILED';
  if (orderState === 'ORDERING') return 'ISSUING';
  return orderState === 'FAILED' ? 'ISSUE_FAILED' : 'VERIFIED';
}

/**
 * Whether requests for the host are answered. When a proxy terminates TLS (`endsTls` false), the gateway does not know
 * the certificate and serves every verified domain.
 */
export function isServing(domain: Domain, { atMs, endsTls }: { atMs: number; endsTls: boolean }): boolean {
  if (!endsTls)
    return domain.verifiedAtMs !== null && domain.removedAtMs === null && domain.suspendedAtMs === null;
  const status = statusOf(domain, atMs);
  return status === 'ACTIVE' || status === 'DRIFTED';
}

export function refuseUnknownDomain(): never {
  throw new AppError('not_found', 'There is no such domain in this project.');
}
