import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, TIME_MS, text } from '../database/columns.js';

/** One change in the life of a domain, for its owner to read. Rows are only ever added. */
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

  /** One sentence for a person. */
  @Column({ type: 'text' })
  message!: string;

  /** JSON: the diagnoses with their evidence. */
  @Column({ type: 'text' })
  diagnoses!: string;
}
