import { type EntityManager, LessThan, Not } from 'typeorm';
import type { Database } from '../database/database.js';
import { withDrawnId } from '../database/drawn-id.js';
import type { IdGenerator } from '../ids.js';
import { AcmeChallenge } from './acme-challenge.entity.js';
import { Certificate, type NewCertificate } from './certificate.entity.js';

/** The rows of certificates. */
export class CertificateStore {
  constructor(
    private readonly db: Database,
    private readonly ids: IdGenerator,
  ) {}

  find(id: bigint): Promise<Certificate | null> {
    return this.db.repository(Certificate).findOneBy({ id });
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
