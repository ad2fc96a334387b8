import { type EntityManager, In, LessThan, Not } from 'typeorm';
import type { Database } from '../database/database.js';
import { withDrawnId } from '../database/drawn-id.js';
import type { IdGenerator } from '../ids.js';
import { AcmeChallenge } from './acme-challenge.entity.js';
import { Certificate, type CertificateFacts, type NewCertificate } from './certificate.entity.js';

/** The rows of certificates. */
export class CertificateStore {
  constructor(
    private readonly db: Database,
    private readonly ids: IdGenerator,
  ) {}

  find(id: bigint): Promise<Certificate | null> {
    return this.db.repository(Certificate).findOneBy({ id });
  }

  /** What may be shown of certificates, by domain. One statement. */
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

  /** Keeps a new certificate, in the transaction that puts it in force. */
  insert(manager: EntityManager, issued: NewCertificate): Promise<Certificate> {
    return withDrawnId(this.ids, async (id) => {
      const certificate = { id, ...issued };
      await manager.insert(Certificate, certificate);
      return certificate;
    });
  }

  /** Deletes what a domain had before its certificate in force, once no process can be about to load it. */
  async deleteReplaced(domainId: bigint, inForceId: bigint, beforeMs: number): Promise<void> {
    const certificates = this.db.repository(Certificate);
    await this.db.write(() =>
      certificates.delete({ domainId, id: Not(inForceId), createdAtMs: LessThan(beforeMs) }),
    );
  }

  /** Deletes every private key of a domain that was removed, and its open challenges. */
  async destroy(manager: EntityManager, { id, hostname }: { id: bigint; hostname: string }): Promise<void> {
    await manager.delete(Certificate, { domainId: id });
    await manager.delete(AcmeChallenge, { hostname });
  }
}
