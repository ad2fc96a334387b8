import { Column, Entity, type EntityManager, In, Index, LessThan, Not, PrimaryColumn } from 'typeorm';
import { ID, TIME_MS, text } from '../../../ground/database/columns.js';
import type { Database } from '../../../ground/database/database.js';
import { withDrawnId } from '../../../ground/database/drawn-id.js';
import type { IdGenerator } from '../../../ground/kernel/ids.js';
import { AcmeOrder, ENDED } from './acme-order.entity.js';

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

/** Public facts, without the private key. TypeORM needs the id. */
const FACTS = {
  id: true,
  domainId: true,
  issuer: true,
  serialNumber: true,
  notBeforeMs: true,
  notAfterMs: true,
} as const;
export type CertificateFacts = Pick<Certificate, keyof typeof FACTS>;

/** Reads and writes the rows of certificates. */
export class CertificateStore {
  constructor(
    private readonly db: Database,
    private readonly ids: IdGenerator,
  ) {}

  /** Null also for an id that is not of this host. */
  findCertificate(id: bigint, hostname: string): Promise<Certificate | null> {
    return this.db.repository(Certificate).findOneBy({ id, hostname });
  }

  /** The public facts of the certificates, by domain. One statement. */
  async factsOf(ids: readonly bigint[]): Promise<Map<bigint, CertificateFacts>> {
    const where = { id: In([...ids]) };
    const found = await this.db.repository(Certificate).find({ select: FACTS, where });
    return new Map(found.map((certificate) => [certificate.domainId, certificate]));
  }

  /** Stores a new certificate and ends its order, in the transaction that makes it current. */
  async insert(manager: EntityManager, issued: NewCertificate): Promise<Certificate> {
    const { domainId, hostname } = issued;
    await manager.update(AcmeOrder, { hostname, domainId }, ENDED);
    return withDrawnId(this.ids, async (id) => {
      const certificate = { id, ...issued };
      await manager.insert(Certificate, certificate);
      return certificate;
    });
  }

  /** Deletes replaced certificates created before `beforeMs`, when no process can still load them. */
  async deleteReplaced(domainId: bigint, currentId: bigint, beforeMs: number): Promise<void> {
    const certificates = this.db.repository(Certificate);
    await this.db.write(() =>
      certificates.delete({ domainId, id: Not(currentId), createdAtMs: LessThan(beforeMs) }),
    );
  }

  /** Deletes every private key and open challenge of a removed domain. The order limits still count its orders. */
  async destroy(manager: EntityManager, { id, hostname }: { id: bigint; hostname: string }): Promise<void> {
    await manager.delete(Certificate, { domainId: id });
    await manager.update(AcmeOrder, { hostname, domainId: id }, ENDED);
  }
}
