import { type EntityManager, In, LessThan, Not } from 'typeorm';
import type { Database } from '../../database/database.js';
import { withDrawnId } from '../../database/drawn-id.js';
import type { IdGenerator } from '../../kernel/ids.js';
import { AcmeChallenge } from '../challenges/acme-challenge.entity.js';
import { Certificate, type CertificateFacts, type NewCertificate } from './certificate.entity.js';

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

  /** The public facts of certificates, by domain. One statement. */
  async factsOf(
    domains: readonly { id: bigint; certificateId: bigint | null }[],
  ): Promise<Map<bigint, CertificateFacts>> {
    const certified = domains.filter(({ certificateId }) => certificateId !== null);
    if (certified.length === 0) return new Map();
    const found = await this.db.repository(Certificate).find({
      select: {
        id: true,
        domainId: true,
        issuer: true,
        serialNumber: true,
        notBeforeMs: true,
        notAfterMs: true,
      },
      where: {
        id: In(certified.map(({ certificateId }) => certificateId)),
        domainId: In(certified.map(({ id }) => id)),
      },
    });
    return new Map(found.map((certificate) => [certificate.domainId, certificate]));
  }

  /** Stores a new certificate, in the transaction that makes it current. */
  insert(manager: EntityManager, issued: NewCertificate): Promise<Certificate> {
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

  /** Deletes every private key and open challenge of a removed domain. */
  async destroy(manager: EntityManager, { id, hostname }: { id: bigint; hostname: string }): Promise<void> {
    await manager.delete(Certificate, { domainId: id });
    await manager.delete(AcmeChallenge, { hostname });
  }
}
