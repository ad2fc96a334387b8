import type { Database } from '../../ground/database/database.js';
import { withTimeLimit } from '../../ground/kernel/deadline.js';
import { MINUTE_MS } from '../../ground/kernel/duration.js';
import type { CertificateAuthority } from '../certificates/certificate-authority.js';
import { CertificateOrderError } from '../certificates/orders/order-failure.js';
import type { CertificateStore, NewCertificate } from '../certificates/store/certificate.store.js';
import { checkCaa } from '../diagnosis/caa.js';
import type { Diagnosis } from '../diagnosis/diagnosis.js';
import { finding } from '../diagnosis/finding.js';
import type { Asker } from '../dns/ask-server.js';
import type { Answer, Question } from '../dns/dns-message.js';
import type { Domain } from '../store/domain.entity.js';
import type { Decide, DomainStore } from '../store/domain.store.js';
import type { DomainCheck } from './domain-check.js';
import { type DomainLease, underLease } from './domain-lease.js';
import { failedOrder, issuedOrder } from './order-outcome.js';

/** A DNS check younger than this is not repeated before an order. */
const FRESH_MS = 60_000;
const CAA_MS = 3_000;
/** Other processes may still load the replaced certificate. */
const REPLACED_KEPT_MS = 3_600_000;
/** A fault of the platform, so that the owner knows that no action is needed. */
const FAULT = {
  actor: 'PLATFORM',
  cause: 'The order failed because of a fault on our side.',
  remedy: 'Nothing: we retry automatically.',
} as const;

interface IssuanceParts {
  db: Database;
  store: DomainStore;
  check: DomainCheck;
  authority: Pick<CertificateAuthority, 'caaNames' | 'renewalTime'>;
  order: CertificateAuthority['order'];
  certificates: CertificateStore;
  ask(question: Question, asker: Asker): Promise<Answer>;
  platformHost: string;
}

/** Orders certificates for domains: at most one order per domain at a time, across all processes. */
export class DomainIssuance {
  constructor(
    private readonly parts: IssuanceParts,
    private readonly now: () => number,
  ) {}

  /**
   * Does every due step for the domain: checks DNS and CAA, orders the certificate and stores it. When `stopping` aborts,
   * another process resumes the order.
   */
  run(domain: Domain, stopping: AbortSignal): Promise<void> {
    const attempt = (lease: DomainLease) => this.attempt(lease);
    return underLease(this.parts.db, domain, { now: this.now, stopping }, attempt);
  }

  /** Asks the CA when to renew the current certificate, and deletes the replaced ones. RFC 9773. */
  async planRenewal(domain: Domain, signal: AbortSignal): Promise<void> {
    const { id, hostname, certificateId, orderState, nextOrderAtMs } = domain;
    const { store, authority, certificates } = this.parts;
    if (certificateId === null || orderState !== 'ISSUED') return;
    const certificate = await certificates.findCertificate(certificateId, hostname);
    if (!certificate) return;
    await certificates.deleteReplaced(id, certificateId, this.now() - REPLACED_KEPT_MS);
    const renewAtMs = await authority.renewalTime(certificate, nextOrderAtMs, signal);
    if (renewAtMs !== null) {
      await store.revise(id, (newest) =>
        newest.certificateId === certificateId && newest.orderState === 'ISSUED'
          ? { changes: { nextOrderAtMs: renewAtMs } }
          : null,
      );
    }
  }

  private async attempt(lease: DomainLease): Promise<void> {
    const domain = await this.ready(lease);
    if (!domain) return this.release(lease);
    try {
      await this.store(lease, () => ({ changes: { orderState: 'ORDERING' } }));
      const caa = await this.caaFindings(domain, lease.signal);
      if (caa.length > 0) return await this.fail(lease, caa);
      const issued = await this.order(lease, domain);
      await this.store(lease, async (newest, manager) =>
        issuedOrder(newest, await this.parts.certificates.insert(manager, issued)),
      );
    } catch (error) {
      if (lease.signal.aborted) return this.release(lease);
      if (error instanceof CertificateOrderError) return this.fail(lease, [error.failure]);
      await this.fail(lease, [finding('CA_DOWN', [], { ...FAULT, retryAtMs: this.now() + MINUTE_MS })]);
      throw error;
    }
  }

  /** The domain if a certificate may be ordered now; otherwise null, and the reason is stored. */
  private async ready(lease: DomainLease): Promise<Domain | null> {
    const { store, check } = this.parts;
    const domain = await store.findDomain(lease.domainId);
    if (!domain) return null;
    const isSuspended = domain.suspendedAtMs !== null;
    const isFresh = domain.checkedAtMs !== null && this.now() - domain.checkedAtMs < FRESH_MS;
    const checked = isSuspended || isFresh ? domain : await check.run(domain, lease.signal);
    if (!isSuspended && checked.dns === 'MATCHES' && checked.mismatchSinceMs === null) return checked;
    if (!isSuspended && checked.certificateId !== null) await this.fail(lease, []);
    // The next successful check plans an order.
    else await this.store(lease, () => ({ changes: { nextOrderAtMs: null } }));
    return null;
  }

  private async caaFindings({ projectId, hostname }: Domain, signal: AbortSignal): Promise<Diagnosis[]> {
    const { authority, ask, platformHost } = this.parts;
    const rule = { ...(await authority.caaNames(signal)), platformHost };
    return withTimeLimit(CAA_MS, signal, (end) =>
      checkCaa((question) => ask(question, { projectId, signal: end }), hostname, rule),
    );
  }

  private async order(lease: DomainLease, domain: Domain): Promise<NewCertificate> {
    const { certificates } = this.parts;
    const { id, projectId, hostname, registrableDomain, certificateId } = domain;
    const isCertified = certificateId !== null;
    const replaced = isCertified ? await certificates.findCertificate(certificateId, hostname) : null;
    const replaces = replaced?.renewalId ?? null;
    const request = { domainId: id, projectId, hostname, registrableDomain, replaces, isCertified };
    const what = isCertified ? 'The renewal of the certificate' : 'A certificate';
    const message = `${what} for ${hostname} is being ordered.`;
    const happenings = [{ name: 'certificate.ordered' as const, message }];
    return this.parts.order(request, {
      signal: lease.signal,
      onOrdered: async () => {
        const stored = await this.store(lease, () => ({ changes: {}, happenings }));
        if (!stored) throw new Error('the domain was removed or taken over');
      },
    });
  }

  private async fail(lease: DomainLease, found: readonly Diagnosis[]): Promise<void> {
    await this.store(lease, (newest) => failedOrder(newest, found, this.now()));
  }

  /** Gives up the lease; the next process that takes it resumes the order. */
  private async release(lease: DomainLease): Promise<void> {
    await this.store(lease, () => ({ changes: { leaseUntilMs: 0 } }));
  }

  /** Only the newest lease may store anything. */
  private store(lease: DomainLease, decide: Decide): Promise<Domain | null> {
    return this.parts.store.revise(lease.domainId, (newest, manager) =>
      newest.leaseNumber === lease.number ? decide(newest, manager) : null,
    );
  }
}
