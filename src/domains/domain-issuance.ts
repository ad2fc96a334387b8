import type { CertificateStore } from '../certificates/certificate.store.js';
import {
  type CertificateAuthority,
  CertificateOrderError,
  type IssuedCertificate,
  type OrderFailure,
} from '../certificates/certificate-authority.js';
import { startDeadline } from '../deadline.js';
import type { Answer, Question } from '../dns/dns-message.js';
import type { ProjectService } from '../projects/project.service.js';
import { checkCaa } from './caa.js';
import { type Diagnosis, isBlocking } from './diagnosis.js';
import type { Domain } from './domain.entity.js';
import type { DomainStore, Revision } from './domain.store.js';
import type { DomainCheck } from './domain-check.js';
import type { DomainLease, DomainLeases } from './domain-lease.js';
import { allowsCustomDomains } from './domain-plan.js';
import { failedOrder, issuedOrder } from './order-outcome.js';

/** DNS that was looked at this recently is not looked at again before an order. */
const FRESH_MS = 60_000;
const LOOK_AHEAD_MS = 10_000;
const CAA_MS = 3_000;
/** Other processes may still be about to load the certificate that was replaced. */
const REPLACED_KEPT_MS = 3_600_000;
const MINUTE_MS = 60_000;

interface IssuanceParts {
  store: DomainStore;
  leases: DomainLeases;
  check: DomainCheck;
  projects: ProjectService;
  authority: CertificateAuthority;
  certificates: CertificateStore;
  ask(question: Question, signal: AbortSignal): Promise<Answer>;
  platformHost: string;
  /** Told of every certificate put in force. */
  announce(): Promise<void>;
}

/** Orders certificates for domains, one order at a time for each, in whichever process. */
export class DomainIssuance {
  private readonly running = new Map<bigint, DomainLease>();

  constructor(
    private readonly parts: IssuanceParts,
    private readonly now: () => number,
  ) {}

  /** Does everything that is due for the domain: looks at DNS and CAA, orders, puts the certificate in force. */
  async run(domain: Domain): Promise<void> {
    const lease = await this.parts.leases.take(domain);
    if (!lease) return;
    this.running.set(domain.id, lease);
    try {
      await this.attempt(lease);
    } finally {
      lease.end();
      this.running.delete(domain.id);
    }
  }

  /** Asks the CA when the certificate in force is best renewed, and forgets the ones before it. RFC 9773. */
  async lookAhead({ id, certificateId, orderState }: Domain): Promise<void> {
    const { store, authority, certificates } = this.parts;
    if (certificateId === null || orderState !== 'ISSUED') return;
    const certificate = await certificates.find(certificateId);
    if (!certificate) return;
    await certificates.deleteReplaced(id, certificateId, this.now() - REPLACED_KEPT_MS);
    const renewAtMs = await authority.renewalTime(certificate, AbortSignal.timeout(LOOK_AHEAD_MS));
    if (renewAtMs !== null) {
      await store.revise(id, (newest) =>
        newest.certificateId === certificateId && newest.orderState === 'ISSUED'
          ? { changes: { nextOrderAtMs: renewAtMs } }
          : null,
      );
    }
  }

  /** Ends an order that runs in this process; its result will not be used. */
  cancel(domainId: bigint): void {
    this.running.get(domainId)?.revoke('the domain was removed');
  }

  /** Ends every order here. Other processes take them up where they are. */
  stop(): void {
    for (const lease of this.running.values()) lease.revoke('this process is shutting down');
  }

  private async attempt(lease: DomainLease): Promise<void> {
    const domain = await this.ready(lease);
    if (!domain) return this.release(lease);
    try {
      await this.store(lease, () => ({ changes: { orderState: 'ORDERING' } }));
      const caa = (await this.caaFindings(domain, lease.signal)).filter(isBlocking);
      if (caa.length > 0) return await this.fail(lease, caa);
      await this.succeed(lease, await this.order(lease, domain));
    } catch (error) {
      if (lease.signal.aborted) return this.release(lease);
      if (!(error instanceof CertificateOrderError)) {
        await this.fail(lease, [fault(this.now())]);
        throw error;
      }
      await this.fail(lease, [diagnosisOf(error.failure)]);
    }
  }

  /** The domain when a certificate may be ordered for it now; otherwise null, and the reason is on record. */
  private async ready(lease: DomainLease): Promise<Domain | null> {
    const { store, projects, check } = this.parts;
    const domain = await store.find(lease.domainId);
    if (!domain) return null;
    const { plan } = await projects.get(domain.projectId);
    if (!allowsCustomDomains(plan)) {
      // Ordered for again when the plan allows it: `DomainSuspension`.
      await this.store(lease, () => ({ changes: { nextOrderAtMs: null } }));
      return null;
    }
    const isFresh = domain.checkedAtMs !== null && this.now() - domain.checkedAtMs < FRESH_MS;
    const checked = isFresh ? domain : await check.run(domain, { isAsked: false, signal: lease.signal });
    if (checked.dns === 'MATCHES' && checked.mismatchSinceMs === null) return checked;
    if (checked.certificateId !== null) await this.fail(lease, []);
    // The next look that finds it right orders.
    else await this.store(lease, () => ({ changes: { nextOrderAtMs: null } }));
    return null;
  }

  private async caaFindings({ hostname }: Domain, signal: AbortSignal): Promise<Diagnosis[]> {
    const { authority, ask, platformHost } = this.parts;
    const { accountUrl } = await authority.account(signal);
    const identities = await authority.caaIdentities(signal);
    const deadline = startDeadline(CAA_MS, signal);
    const rule = { identities, accountUrl, method: 'http-01' as const, platformHost, now: this.now };
    try {
      return await checkCaa((question) => ask(question, deadline.signal), hostname, rule);
    } finally {
      deadline.end();
    }
  }

  private async order(lease: DomainLease, domain: Domain): Promise<IssuedCertificate> {
    const { authority, certificates } = this.parts;
    const { id, projectId, hostname, registrableDomain, orderUrl, orderSealedKey, certificateId } = domain;
    const replaced = certificateId === null ? null : await certificates.find(certificateId);
    return authority.order(
      {
        domainId: id,
        projectId,
        hostname,
        registrableDomain,
        resume: orderUrl && orderSealedKey ? { orderUrl, sealedKey: orderSealedKey } : null,
        replaces: replaced?.renewalId ?? null,
      },
      {
        signal: lease.signal,
        onOrdered: async (url, sealedKey) => {
          const what = certificateId === null ? 'A certificate' : 'The renewal of the certificate';
          const stored = await this.store(lease, () => ({
            changes: { orderUrl: url, orderSealedKey: sealedKey },
            happenings: [
              { name: 'certificate.ordered', message: `${what} for ${hostname} is being ordered.` },
            ],
          }));
          if (!stored) throw new Error('the domain was removed or taken over');
        },
      },
    );
  }

  private async succeed(lease: DomainLease, issued: IssuedCertificate): Promise<void> {
    const { store, certificates, announce } = this.parts;
    const stored = await store.transaction((manager) =>
      store.reviseIn(manager, lease.domainId, async (newest) =>
        newest.leaseNumber === lease.number
          ? issuedOrder(newest, await certificates.insert(manager, issued.certificate))
          : null,
      ),
    );
    if (stored) await announce();
  }

  private async fail(lease: DomainLease, found: readonly Diagnosis[]): Promise<void> {
    await this.store(lease, (newest) => failedOrder(newest, found, this.now()));
  }

  /** Gives the domain back as it is: whoever takes it next goes on with its order. */
  private async release(lease: DomainLease): Promise<void> {
    await this.store(lease, () => ({ changes: { leaseUntilMs: 0 } }));
  }

  /** Only the newest lease may store anything. */
  private store(lease: DomainLease, decide: (newest: Domain) => Revision): Promise<Domain | null> {
    return this.parts.store.revise(lease.domainId, (newest) =>
      newest.leaseNumber === lease.number ? decide(newest) : null,
    );
  }
}

function diagnosisOf(failure: OrderFailure): Diagnosis {
  return { ...failure, severity: 'ERROR' };
}

/** A fault of ours: the owner is told that it is not theirs. */
function fault(atMs: number): Diagnosis {
  return {
    code: 'CA_DOWN',
    severity: 'ERROR',
    actor: 'PLATFORM',
    cause: 'The order met a fault on our side.',
    remedy: 'Nothing: it is tried again by itself.',
    retryAtMs: atMs + MINUTE_MS,
    evidence: [],
  };
}
