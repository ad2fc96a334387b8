import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, INTEGER, TIME_MS, text } from '../database/columns.js';

/** Whether the name leads here. */
export type DnsState = 'PENDING' | 'FAILED' | 'MATCHES' | 'DRIFTED';
/** Whether the owner must prove by TXT that the name is theirs. */
export type Ownership = 'ASSUMED' | 'REQUIRED' | 'PROVED';
/** How the newest order stands. A certificate in force stays so whatever a renewal does. */
export type OrderState = 'NONE' | 'ORDERING' | 'FAILED' | 'ISSUED';

/** A host name attached to a project, and everything known of its way from DNS to a served certificate. */
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

  /** The host name while attached, null afterwards: its unique key lets one project have a name, and all had it. */
  @Index('domains_attached', { unique: true })
  @Column({ ...text(253), name: 'attached_hostname', nullable: true })
  attachedHostname!: string | null;

  /** What CAs count their limits by: the public suffix and one label. */
  @Column({ ...text(253), name: 'registrable_domain' })
  registrableDomain!: string;

  /** A zone of its own begins here, so it can't hold a CNAME. */
  @Column({ ...INTEGER, name: 'is_apex' })
  isApex!: 0 | 1;

  @Column(text(16))
  ownership!: Ownership;

  @Column(text(16))
  dns!: DnsState;

  @Column({ ...text(16), name: 'order_state' })
  orderState!: OrderState;

  /** JSON: what the last check found. */
  @Column({ type: 'text', name: 'dns_diagnoses' })
  dnsDiagnoses!: string;

  /** JSON: why the last order failed. */
  @Column({ type: 'text', name: 'order_diagnoses' })
  orderDiagnoses!: string;

  @Column({ ...TIME_MS, name: 'checked_at_ms', nullable: true })
  checkedAtMs!: number | null;

  /** Null = paused until somebody asks. */
  @Index('domains_next_check')
  @Column({ ...TIME_MS, name: 'next_check_at_ms', nullable: true })
  nextCheckAtMs!: number | null;

  /** The back-off of checks counts from here: attached, or asked to verify, or drifted. */
  @Column({ ...TIME_MS, name: 'waiting_since_ms' })
  waitingSinceMs!: number;

  /** The first check that did not match since the last that did. */
  @Column({ ...TIME_MS, name: 'mismatch_since_ms', nullable: true })
  mismatchSinceMs!: number | null;

  /** The last change from not matching to matching. */
  @Column({ ...TIME_MS, name: 'verified_at_ms', nullable: true })
  verifiedAtMs!: number | null;

  @Column({ ...ID, name: 'certificate_id', nullable: true })
  certificateId!: bigint | null;

  @Column({ ...TIME_MS, name: 'certificate_ends_at_ms', nullable: true })
  certificateEndsAtMs!: number | null;

  /** When to order: the first certificate, another attempt, or the renewal. Null = not by itself. */
  @Index('domains_next_order')
  @Column({ ...TIME_MS, name: 'next_order_at_ms', nullable: true })
  nextOrderAtMs!: number | null;

  /** Orders that failed in a row. */
  @Column({ ...INTEGER, name: 'failed_orders' })
  failedOrders!: number;

  /** Whoever orders holds the domain until then. */
  @Column({ ...TIME_MS, name: 'lease_until_ms' })
  leaseUntilMs!: number;

  /** Fencing number: it counts leases, and only the newest lease may store a result. */
  @Column({ ...INTEGER, name: 'lease_number' })
  leaseNumber!: number;

  /** Of the order in flight, so that another process can complete it. */
  @Column({ ...text(512), name: 'order_url', nullable: true })
  orderUrl!: string | null;

  @Column({ type: 'text', name: 'order_sealed_key', nullable: true })
  orderSealedKey!: string | null;

  @Column({ ...INTEGER, name: 'is_primary' })
  isPrimary!: 0 | 1;

  @Column({ ...text(253), name: 'redirect_to', nullable: true })
  redirectTo!: string | null;

  @Column({ ...INTEGER, name: 'redirect_status', nullable: true })
  redirectStatus!: number | null;

  /** Not served because of the project's plan. */
  @Column({ ...TIME_MS, name: 'suspended_at_ms', nullable: true })
  suspendedAtMs!: number | null;

  @Column({ ...TIME_MS, name: 'removed_at_ms', nullable: true })
  removedAtMs!: number | null;

  @Column({ ...TIME_MS, name: 'created_at_ms' })
  createdAtMs!: number;

  /** Number of the last change that serving must know of (`nextChange`). */
  @Index('domains_change')
  @Column({ ...ID, name: 'change_number' })
  changeNumber!: bigint;
}
