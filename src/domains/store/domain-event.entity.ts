import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, json, TIME_MS, text } from '../../database/columns.js';
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
