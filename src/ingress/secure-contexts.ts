import { createSecureContext, type SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { Certificate } from '../certificates/certificate.entity.js';
import { certificateKeyContext, type Sealer } from '../certificates/sealer.js';
import type { Database } from '../database/database.js';
import type { Host } from '../domains/host-table.js';

/** About 26 KB each. */
const MAX_CONTEXTS = 1_000;
/** How long a certificate that could not be loaded is not asked for again. */
const FAILED_MS = 1_000;

/** Certificates ready for handshakes, by their id: loaded once, when the first visitor of their host comes. */
export class SecureContexts {
  private readonly contexts = new LRUCache<bigint, Promise<SecureContext>>({ max: MAX_CONTEXTS });

  constructor(
    private readonly db: Database,
    private readonly sealer: Sealer,
  ) {}

  /** Rejects when the host has no certificate, when it can't be opened, or when the database does not answer. */
  of(host: Host): Promise<SecureContext> {
    const { certificateId } = host;
    if (certificateId === null) return Promise.reject(new Error(`${host.hostname} has no certificate`));
    const known = this.contexts.get(certificateId);
    if (known) return known;
    const loading = this.load(certificateId, host.hostname);
    this.contexts.set(certificateId, loading);
    loading.catch(() => {
      if (this.contexts.peek(certificateId) === loading) {
        this.contexts.set(certificateId, loading, { ttl: FAILED_MS });
      }
    });
    return loading;
  }

  forget({ certificateId }: Host): void {
    if (certificateId !== null) this.contexts.delete(certificateId);
  }

  get size(): number {
    return this.contexts.size;
  }

  private async load(id: bigint, hostname: string): Promise<SecureContext> {
    const row = await this.db.repository(Certificate).findOneBy({ id, hostname });
    if (!row) throw new Error(`the certificate of ${hostname} is not there`);
    const key = this.sealer.open(row.sealedKey, certificateKeyContext(hostname));
    return createSecureContext({ cert: row.chainPem, key });
  }
}
