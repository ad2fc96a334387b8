import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { BOOLEAN, ID, INTEGER, json, TIME_MS, text } from '../../ground/database/columns.js';
import type { Diagnosis } from '../diagnosis/diagnosis.js';

/** Whether the name points here. */
export type DnsState = 'PENDING' | 'FAILED' | 'MATCHES' | 'DRIFTED';
/** Whether the owner must prove by TXT that the name is theirs. */
export type Ownership = 'ASSUMED' | 'REQUIRED' | 'PROVED';
/** The state of the newest order. A failed renewal does not affect the current certificate. */
export type OrderState = 'NONE' | 'ORDERING' | 'FAILED' | 'ISSUED';

/**
 * A host name attached to a project, with the state of its DNS, orders and certificate. The initial values are those of a
 * domain that was attached now and never checked. D-60.
 */
@Entity('domains')
@Index('domains_project', ['projectId', 'removedAtMs'])
export class Domain {
  @PrimaryColumn(ID)
  id!: bigint;

  @Column({ ...ID, name: 'project_id' })
  projectId!: bigint;

  /** In lower case and ASCII (`xn--…`), without a trailing dot. */
  @Index('domains_hostname')
  @Column(text(253))
  hostname!: string;

  /** The host name while attached, null afterwards. Its unique key allows one current holder and many former ones. */
  @Index('domains_attached', { unique: true })
  @Column({ ...text(253), name: 'attached_hostname', nullable: true })
  attachedHostname!: string | null;

  /** The public suffix and one label; CAs count some rate limits by it. */
  @Column({ ...text(253), name: 'registrable_domain' })
  registrableDomain!: string;

  /** The name is the apex of a zone and can't have a CNAME. */
  @Column({ ...BOOLEAN, name: 'is_apex' })
  isApex!: boolean;

  @Column(text(16))
  ownership!: Ownership;

  @Column(text(16))
  dns: DnsState = 'PENDING';

  @Column({ ...text(16), name: 'order_state' })
  orderState: OrderState = 'NONE';

  /** The findings of the last check. */
  @Column({ ...json<Diagnosis[]>(), name: 'dns_diagnoses' })
  dnsDiagnoses: Diagnosis[] = [];

  /** The reasons of the last failed order. */
  @Column({ ...json<Diagnosis[]>(), name: 'order_diagnoses' })
  orderDiagnoses: Diagnosis[] = [];

  @Column({ ...TIME_MS, name: 'checked_at_ms', nullable: true })
  checkedAtMs: number | null = null;

  /** Null = paused until the owner requests a check. */
  @Index('domains_next_check')
  @Column({ ...TIME_MS, name: 'next_check_at_ms', nullable: true })
  nextCheckAtMs!: number | null;

  /** The start of the back-off of checks: attached, verify requested, or drifted. */
  @Column({ ...TIME_MS, name: 'waiting_since_ms' })
  waitingSinceMs!: number;

  /** The first failed check since the last successful one. */
  @Column({ ...TIME_MS, name: 'mismatch_since_ms', nullable: true })
  mismatchSinceMs: number | null = null;

  /** The last change from not matching to matching. */
  @Column({ ...TIME_MS, name: 'verified_at_ms', nullable: true })
  verifiedAtMs: number | null = null;

  @Column({ ...ID, name: 'certificate_id', nullable: true })
  certificateId: bigint | null = null;

  @Column({ ...TIME_MS, name: 'certificate_ends_at_ms', nullable: true })
  certificateEndsAtMs: number | null = null;

  /** The time of the next order: first certificate, retry or renewal. Null = no automatic order. */
  @Index('domains_next_order')
  @Column({ ...TIME_MS, name: 'next_order_at_ms', nullable: true })
  nextOrderAtMs: number | null = null;

  @Column({ ...INTEGER, name: 'failed_orders' })
  failedOrders = 0;

  /** The end of the current lease; 0 = no lease. */
  @Column({ ...TIME_MS, name: 'lease_until_ms' })
  leaseUntilMs = 0;

  /** Fencing number: counts leases; only the newest lease may store a result. */
  @Column({ ...INTEGER, name: 'lease_number' })
  leaseNumber = 0;

  @Column({ ...BOOLEAN, name: 'is_primary' })
  isPrimary = false;

  @Column({ ...text(253), name: 'redirect_to', nullable: true })
  redirectTo: string | null = null;

  @Column({ ...INTEGER, name: 'redirect_status', nullable: true })
  redirectStatus: number | null = null;

  /** Not served because of the project's plan. */
  @Column({ ...TIME_MS, name: 'suspended_at_ms', nullable: true })
  suspendedAtMs: number | null = null;

  @Column({ ...TIME_MS, name: 'removed_at_ms', nullable: true })
  removedAtMs: number | null = null;

  @Column({ ...TIME_MS, name: 'created_at_ms' })
  createdAtMs!: number;

  /** Number of the last change of `SERVED_COLUMNS` (`nextChange`). */
  @Index('domains_change')
  @Column({ ...ID, name: 'change_number' })
  changeNumber!: bigint;
}

/** The columns that serving needs. Every process must read a change of one. */
export const SERVED_COLUMNS = {
  id: true,
  projectId: true,
  hostname: true,
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
