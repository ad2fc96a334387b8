import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, INTEGER, ProjectOwned, TIME_MS, text } from '../../ground/database/columns.js';
import type { CountedRequest, RequestOutcome } from '../../ground/kernel/answered-request.js';
import { HOUR_MS } from '../../ground/kernel/duration.js';

export type LoggedDoor = CountedRequest['door'];

/** An answered request of a project's key. Without its body, document, variables, address and token. */
@Entity('logged_requests', { withoutRowid: true })
@Index('logged_requests_age', ['id', 'projectId'])
export class LoggedRequest extends ProjectOwned {
  /** Has the time of the answer in its upper bits, so that ids are in the order of time. */
  @PrimaryColumn(ID)
  id!: bigint;

  @Column({ ...TIME_MS, name: 'at_ms' })
  atMs!: number;

  @Column({ ...ID, name: 'key_id' })
  keyId!: bigint;

  @Column(text(8))
  door!: LoggedDoor;

  @Column(text(100))
  operation!: string;

  @Column(INTEGER)
  status!: number;

  /** In upper case, from both doors; null = no error. */
  @Column({ ...text(64), nullable: true })
  code!: string | null;

  @Column(text(8))
  outcome!: RequestOutcome;

  @Column({ ...INTEGER, name: 'duration_us' })
  durationUs!: number;

  @Column(INTEGER)
  units!: number;

  @Column({ ...text(64), name: 'request_id' })
  requestId!: string;

  /** The `User-Agent` of a request that was a strike; null = it was none. */
  @Column({ ...text(200), name: 'strike_by', nullable: true })
  strikeBy!: string | null;
}

/** The log of a project has its last 10,000 requests of the last 48 hours. */
export const REQUEST_RETENTION = { keptMs: 48 * HOUR_MS, maxOfOwner: 10_000, owner: 'projectId' } as const;
