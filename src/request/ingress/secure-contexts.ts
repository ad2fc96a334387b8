import { createSecureContext, type SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { CertificateStore } from '../../domains/certificates/store/certificate.store.js';
import { certificateKeyContext, type Sealer } from '../../domains/certificates/store/sealer.js';
import type { Host } from '../../domains/hosts/host-table.js';
import { FairSemaphore } from '../../ground/scheduling/fair-semaphore.js';

/** About 26 KB each. */
const MAX_CONTEXTS = 1_000;
/** After a failed load the next attempt waits this long. */
const FAILED_MS = 1_000;
/** A client can ask for thousands of names, and each costs a statement and a millisecond: projects share the loads. */
const LOADS = { most: 4, mostOfKey: 2 };
/** Less than a handshake may last. */
const PATIENCE_MS = 2_000;

/** A cache of TLS contexts by certificate id. A context is loaded at the first handshake for its host. */
export class SecureContexts {
  private readonly contexts = new LRUCache<bigint, Promise<SecureContext>>({ max: MAX_CONTEXTS });
  private readonly loads = new FairSemaphore(LOADS);

  constructor(
    private readonly certificates: CertificateStore,
    private readonly sealer: Sealer,
  ) {}

  /** Rejects when the host has no certificate, its key can't be decrypted, or the database does not answer. */
  of(host: Host): Promise<SecureContext> {
    const { certificateId, hostname, projectId } = host;
    if (certificateId === null) return Promise.reject(new Error(`${hostname} has no certificate`));
    const known = this.contexts.get(certificateId);
    if (known) return known;
    const loading = this.loads
      .runWithin(PATIENCE_MS, projectId, () => this.load(certificateId, hostname))
      .then((loaded) => {
        if (loaded) return loaded.result;
        throw new Error('too many certificates are being loaded');
      });
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
    const row = await this.certificates.findCertificate(id, hostname);
    if (!row) throw new Error(`the certificate of ${hostname} does not exist`);
    const key = this.sealer.open(row.sealedKey, certificateKeyContext(hostname));
    return createSecureContext({ cert: row.chainPem, key });
  }
}
