import { AppError } from '../../ground/kernel/errors.js';
import { FairSemaphore } from '../../ground/scheduling/fair-semaphore.js';
import { ownershipRecord } from '../diagnosis/dns-records.js';
import type { Inspector } from '../diagnosis/inspector.js';
import type { Proof } from '../diagnosis/observation.js';
import { EXCHANGES } from '../dns/ask-server.js';
import type { Domain } from '../store/domain.entity.js';
import type { DomainStore } from '../store/domain.store.js';
import { orderAnew, outcomeOf } from './check-outcome.js';

interface CheckParts {
  store: DomainStore;
  inspect: Inspector['inspect'];
  ownerChecks: OwnerChecks;
  /** Called when an order may be due. */
  onDue(): void;
}

/** Checks the DNS of domains and stores the result. */
export class DomainCheck {
  constructor(
    private readonly parts: CheckParts,
    private readonly now: () => number,
  ) {}

  /** Checks at the owner's request, within 2 s. Throws `AppError not_found`, `plan_required`. Spec: Custom domains 7, 8. */
  async verify(projectId: bigint, id: bigint): Promise<Domain> {
    const domain = await this.parts.store.get(projectId, id);
    if (domain.suspendedAtMs !== null) throw planRequired();
    return this.parts.ownerChecks.runCheck(projectId, () => this.run(domain, { isAsked: true }));
  }

  /**
   * As `verify`, and plans a new order without the back-off; only a rate limit of the CA delays it. Spec: Custom domains 9.
   */
  async reverify(projectId: bigint, id: bigint): Promise<Domain> {
    const checked = await this.verify(projectId, id);
    const anew = await this.parts.store.revise(id, (newest) => orderAnew(newest, this.now()));
    this.parts.onDue();
    return anew ?? checked;
  }

  /** Returns the updated domain; unchanged when it was removed meanwhile. Throws the reason of an aborted signal. */
  async run(
    domain: Domain,
    { isAsked, signal }: { isAsked: boolean; signal?: AbortSignal },
  ): Promise<Domain> {
    const { projectId, hostname, isApex } = domain;
    const subject = { projectId, hostname, isApex, ownership: proofOf(domain) };
    const inspection = await this.parts.inspect(subject, signal);
    // An interrupted inspection says nothing about the records.
    signal?.throwIfAborted();
    const revised = await this.parts.store.revise(domain.id, (newest) =>
      outcomeOf(isAsked ? { ...newest, waitingSinceMs: this.now() } : newest, inspection, {
        isAsked,
        atMs: this.now(),
      }),
    );
    await this.parts.store.prune([domain.id]);
    this.parts.onDue();
    return revised ?? domain;
  }
}

/** Null = the TXT record does not matter: ownership is proved, or assumed since DNS pointed here. */
function proofOf({ projectId, hostname, ownership, verifiedAtMs }: Domain): Proof | null {
  const isAssumed = ownership === 'ASSUMED';
  if (ownership === 'PROVED' || (isAssumed && verifiedAtMs !== null)) return null;
  return { ...ownershipRecord(projectId, hostname), isAssumed };
}

/** Each check sends up to a hundred questions to servers that the owner chose. */
const CHECKS = { most: 16, mostOfKey: 8 };
/** This wait plus the check itself stays below the 5 s limit of a request. */
const PATIENCE_MS = 3_000;
/** More than for background checks, which must not use up what an owner may ask for. */
const MAX_EXCHANGES = 9_000;

/** Limits the DNS checks that owners request: how many run at once, in all and for each project. */
export class OwnerChecks {
  private readonly semaphore = new FairSemaphore(CHECKS);

  /** Throws `AppError unavailable` when the project gets no slot within 3 s, or has spent its exchanges. */
  async runCheck<T>(projectId: bigint, check: () => Promise<T>): Promise<T> {
    if (EXCHANGES.of(projectId) >= MAX_EXCHANGES) throw tooMany(EXCHANGES.leftMs(projectId));
    const done = await this.semaphore.runWithin(PATIENCE_MS, projectId, check);
    if (done !== null) return done.result;
    throw tooMany(0);
  }
}

function tooMany(restMs: number): AppError {
  const message = 'Too many DNS checks are running. Try again shortly.';
  return new AppError('unavailable', message, { retryAfterSeconds: Math.max(1, Math.ceil(restMs / 1_000)) });
}

/** Spec: Custom domains 1. */
export function planRequired(): AppError {
  const message = 'Custom domains need the plan PRO or above. Upgrade the project first.';
  return new AppError('plan_required', message);
}
