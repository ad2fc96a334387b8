import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { TIME_MS, text } from '../../database/columns.js';

/** An HTTP-01 challenge. It is in the database, so that any process can answer the CA. RFC 8555 §8.3. */
@Entity('acme_challenges')
export class AcmeChallenge {
  @PrimaryColumn(text(128))
  token!: string;

  /** The only host for which the token is answered. */
  @Column(text(253))
  hostname!: string;

  @Column({ ...text(255), name: 'key_authorization' })
  keyAuthorization!: string;

  @Index('acme_challenges_end')
  @Column({ ...TIME_MS, name: 'expires_at_ms' })
  expiresAtMs!: number;
}
