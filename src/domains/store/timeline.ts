import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, json, TIME_MS, text } from '../../ground/database/columns.js';
import type { Diagnosis } from '../diagnosis/diagnosis.js';

/** A change of a domain, for its owner to read. Rows are never updated. */
@Entity('domain_events')
@Index('domain_events_domain', ['domainId', 'id'])
export class DomainEvent {
  @PrimaryColumn(ID)
  id!: bigint;

  @Column({ ...ID, name: 'domain_id' })
  domainId!: bigint;

  @Column({ ...TIME_MS, name: 'at_ms' })
  atMs!: number;

  /** `domain.verified`, `certificate.issued`, … */
  @Column(text(64))
  name!: string;

  /** A sentence for people. */
  @Column({ type: 'text' })
  message!: string;

  /** With their evidence. */
  @Column(json<Diagnosis[]>())
  diagnoses!: Diagnosis[];
}

export const DOMAIN_EVENTS = [
  'domain.added',
  'domain.moved',
  'domain.verified',
  'domain.check_failed',
  'domain.drifted',
  'domain.recovered',
  'domain.ownership_contested',
  'domain.suspended',
  'domain.resumed',
  'domain.configured',
  'domain.removed',
  'certificate.ordered',
  'certificate.issued',
  'certificate.renewed',
  'certificate.order_failed',
  'certificate.renewal_failed',
  'certificate.overdue',
] as const;

type DomainEventName = (typeof DOMAIN_EVENTS)[number];

export interface Happening {
  name: DomainEventName;
  /** A sentence for people. */
  message: string;
  diagnoses?: readonly Diagnosis[];
}

/** Twice as many as one request can read. An owner can cause any number. */
export const EVENT_RETENTION = { keptMs: null, maxOfOwner: 200, owner: 'domainId' } as const;

/** Called for each committed event, for the log and the metrics. */
export type OnDomainEvent = (event: { name: DomainEventName; hostname: string; message: string }) => void;
