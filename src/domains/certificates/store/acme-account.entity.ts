import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TIME_MS, text } from '../../../ground/database/columns.js';

/** This gateway's account with a CA, shared by all processes. */
@Entity('acme_accounts')
export class AcmeAccount {
  @PrimaryColumn({ ...text(255), name: 'directory_url' })
  directoryUrl!: string;

  @Column({ ...text(512), name: 'account_url' })
  accountUrl!: string;

  /** PEM, sealed. */
  @Column({ type: 'text', name: 'sealed_key' })
  sealedKey!: string;

  @Column({ ...TIME_MS, name: 'created_at_ms' })
  createdAtMs!: number;
}
