import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, TIME_MS, text } from '../../database/columns.js';

/** A certificate for one host name. */
@Entity('certificates')
export class Certificate {
  @PrimaryColumn(ID)
  id!: bigint;

  @Index('certificates_domain')
  @Column({ ...ID, name: 'domain_id' })
  domainId!: bigint;

  @Column(text(253))
  hostname!: string;

  /** PEM, leaf first. */
  @Column({ type: 'text', name: 'chain_pem' })
  chainPem!: string;

  /** PEM, sealed. */
  @Column({ type: 'text', name: 'sealed_key' })
  sealedKey!: string;

  @Column(text(255))
  issuer!: string;

  /** Hexadecimal. */
  @Column({ ...text(64), name: 'serial_number' })
  serialNumber!: string;

  @Column({ ...TIME_MS, name: 'not_before_ms' })
  notBeforeMs!: number;

  @Column({ ...TIME_MS, name: 'not_after_ms' })
  notAfterMs!: number;

  @Column({ ...TIME_MS, name: 'renew_at_ms' })
  renewAtMs!: number;

  /** The certificate's id in RFC 9773; null when the certificate names no authority key. */
  @Column({ ...text(255), name: 'renewal_id', nullable: true })
  renewalId!: string | null;

  @Column({ ...TIME_MS, name: 'created_at_ms' })
  createdAtMs!: number;
}

/** A certificate that is not stored yet. */
export type NewCertificate = Omit<Certificate, 'id'>;

/** Public facts, without the private key. */
export type CertificateFacts = Pick<
  Certificate,
  'domainId' | 'issuer' | 'serialNumber' | 'notBeforeMs' | 'notAfterMs'
>;
