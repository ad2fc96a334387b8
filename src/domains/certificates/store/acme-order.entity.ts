import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { BOOLEAN, ID, TIME_MS, text } from '../../../ground/database/columns.js';

/** An order that was sent to the CA. The limits count these rows, and any process can complete an unfinished one. D-63. */
@Entity('acme_orders')
@Index('acme_orders_registrable', ['registrableDomain', 'startedAtMs'])
@Index('acme_orders_hostname', ['hostname', 'startedAtMs'])
@Index('acme_orders_project', ['projectId', 'startedAtMs'])
export class AcmeOrder {
  @PrimaryColumn(ID)
  id!: bigint;

  @Column({ ...ID, name: 'domain_id' })
  domainId!: bigint;

  @Column({ ...ID, name: 'project_id' })
  projectId!: bigint;

  /** In lower case and ASCII. */
  @Column(text(253))
  hostname!: string;

  /** The CA counts some rate limits by this name. */
  @Column({ ...text(253), name: 'registrable_domain' })
  registrableDomain!: string;

  /** The CA does not count renewals that name the certificate they replace. RFC 9773 §5. */
  @Column({ ...BOOLEAN, name: 'is_renewal' })
  isRenewal!: boolean;

  @Index('acme_orders_start')
  @Column({ ...TIME_MS, name: 'started_at_ms' })
  startedAtMs!: number;

  /** `issued`, or the code of the diagnosis that ended it; null = in flight. */
  @Column({ ...text(64), nullable: true })
  outcome!: string | null;

  /** Null = the CA has not answered yet, or no process may complete the order any more. */
  @Column({ ...text(512), nullable: true })
  url!: string | null;

  /** PEM of the certificate's key, sealed; null = no process may complete the order any more. */
  @Column({ type: 'text', name: 'sealed_key', nullable: true })
  sealedKey!: string | null;

  /** The answer to the HTTP-01 challenge: its token, a dot, and the thumbprint of the account's key. RFC 8555 §8.1. */
  @Column({ ...text(255), name: 'key_authorization', nullable: true })
  keyAuthorization!: string | null;

  /** Until then any process answers the challenge; null = it is not open. */
  @Index('acme_orders_challenge')
  @Column({ ...TIME_MS, name: 'challenge_ends_at_ms', nullable: true })
  challengeEndsAtMs!: number | null;
}

/** The changes after which no process may complete an order. */
export const ENDED = { url: null, sealedKey: null, challengeEndsAtMs: null };
