import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, json, TIME_MS, text } from '../../ground/database/columns.js';

export type AuditDetail = Record<string, string | number | null>;

/** An act: actor, action, subject and time. Rows are never changed, and deleted when they are old: see `AUDIT_RETENTION`. */
@Entity('audit_events')
@Index('audit_events_project', ['projectId', 'id'])
export class AuditEvent {
  @PrimaryColumn(ID)
  id!: bigint;

  @Column({ ...TIME_MS, name: 'at_ms' })
  atMs!: number;

  /** `cli:<user>` or `key:<key id>`. */
  @Column(text(255))
  actor!: string;

  @Column(text(64))
  action!: string;

  @Column({ ...ID, name: 'project_id' })
  projectId!: bigint;

  @Column(text(255))
  subject!: string;

  @Column({ ...text(64), name: 'request_id', nullable: true })
  requestId!: string | null;

  /** Never a secret. */
  @Column({ ...json<AuditDetail>(), nullable: true })
  detail!: AuditDetail | null;
}
