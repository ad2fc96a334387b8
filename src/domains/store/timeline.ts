import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, json, TIME_MS, text } from '../../ground/database/columns.js';
import { type Diagnosis, fitForStorage } from '../diagnosis/diagnosis.js';

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
/** Small, because a domain keeps many. */
const MAX_DIAGNOSES_BYTES = 8_000;
const MAX_MESSAGE_CHARACTERS = 2_000;

export function eventRow(domainId: bigint, { name, message, diagnoses = [] }: Happening, atMs: number) {
  return {
    domainId,
    atMs,
    name,
    message: message.slice(0, MAX_MESSAGE_CHARACTERS),
    diagnoses: fitForStorage(diagnoses, MAX_DIAGNOSES_BYTES),
  };
}

/** Called for each committed event, for the log and the metrics. */
export type OnDomainEvent = (event: { name: DomainEventName; hostname: string; message: string }) => void;

/**
 * The newest events of a domain: its id, its project, and their number. The scalar subquery checks the project and runs once,
 * so the rows are read by the index.
 */
export const OF_ONE = `WHERE domain_id = (SELECT domains.id FROM domains WHERE domains.id = ? AND domains.project_id = ?)
  ORDER BY domain_events.id DESC LIMIT ?`;
