import { AppError } from '../../ground/kernel/errors.js';
import { FairSemaphore } from '../../ground/scheduling/fair-semaphore.js';
import type { Inspection } from '../diagnosis/diagnose.js';
import { ownershipRecord } from '../diagnosis/dns-records.js';
import type { Proof, Subject } from '../diagnosis/observation.js';
import { EXCHANGES } from '../dns/ask-server.js';
import type { Domain } from '../store/domain.entity.js';
import type { DomainStore } from '../store/domain.store.js';
import { type Check, outcomeOf } from './check-outcome.js';

interface CheckParts {
  store: DomainStore;
  inspect(subject: Subject, signal?: AbortSignal): Promise<Inspection>;
  onDue(): void;
}

/** Each check sends up to a hundred questions to servers that the owner chose. */
const OWNER_CHECKS = { most: 16, mostOfKey: 8 };
/** This wait plus the check itself, 1.3 s, ends before 3.5 s: later a request may not write any more. D-237. */
const PATIENCE_MS = 2_000;
/** More than for background checks, which must not use up what an owner may ask for. */
const MAX_EXCHANGES = 9_000;

/** Checks the DNS of domains and stores the result. Limits the checks that owners request. */
export class DomainCheck {
  private readonly ownerChecks = new FairSemaphore<bigint>(OWNER_CHECKS);

  constructor(
    private readonly parts: CheckParts,
    private readonly now: () => number,
  ) {}

  /**
   * Checks at the owner's request, within 2 s. With `isOrdering` it also plans a new order without the back-off; only a rate
   * limit of the CA delays it. Throws `AppError not_found`, `plan_required`. Spec: Custom domains 7, 8, 9.
   */
  async verify(projectId: bigint, id: bigint, { isOrdering = false } = {}): Promise<Domain> {
    const domain = await this.parts.store.get(projectId, id);
    if (domain.suspendedAtMs !== null) throw planRequired();
    const inspection = await this.inspectForOwner(subjectOf(domain));
    return this.store(domain, inspection, { isAsked: true, isOrdering });
  }

  /**
   * Inspects a name at an owner's request. Throws `AppError unavailable` when the project gets no slot within 2 s, or has
   * spent its exchanges.
   */
  async inspectForOwner(subject: Subject): Promise<Inspection> {
    const { projectId } = subject;
    if (EXCHANGES.of(projectId) >= MAX_EXCHANGES) refuseBusy(EXCHANGES.leftMs(projectId));
    const inspect = () => this.parts.inspect(subject);
    const done = await this.ownerChecks.runWithin(PATIENCE_MS, projectId, inspect);
    return done?.result ?? refuseBusy(0);
  }

  /** Checks in the background, as `verify`. Throws the reason of an aborted signal. */
  async run(domain: Domain, signal: AbortSignal): Promise<Domain> {
    const inspection = await this.parts.inspect(subjectOf(domain), signal);
    // An interrupted inspection says nothing about the records.
    signal.throwIfAborted();
    return this.store(domain, inspection, { isAsked: false });
  }

  /** Returns the updated domain; unchanged when it was removed meanwhile. */
  private async store(domain: Domain, inspection: Inspection, request: Omit<Check, 'atMs'>): Promise<Domain> {
    const { store, onDue } = this.parts;
    const revised = await store.revise(domain.id, (newest) =>
      outcomeOf(newest, inspection, { ...request, atMs: this.now() }),
    );
    onDue();
    return revised ?? domain;
  }
}

function subjectOf(domain: Domain): Subject {
  const { projectId, hostname, isApex } = domain;
  return { projectId, hostname, isApex, ownership: proofOf(domain) };
}

/** Null = the TXT record does not matter: ownership is proved, or assumed since DNS pointed here. */
function proofOf({ projectId, hostname, ownership, verifiedAtMs }: Domain): Proof | null {
  const isAssumed = ownership === 'ASSUMED';
  if (ownership === 'PROVED' || (isAssumed && verifiedAtMs !== null)) return null;
  return { ...ownershipRecord(projectId, hostname), isAssumed };
}

function refuseBusy(restMs: number): never {
  const message = 'Too many DNS checks are running. Try again shortly.';
  throw new AppError('unavailable', message, { retryAfterSeconds: Math.max(1, Math.ceil(restMs / 1_000)) });
}

/** Spec: Custom domains 1. */
export function planRequired(): AppError {
  const message = 'Custom domains need the plan PRO or above. Upgrade the project first.';
  return new AppError('plan_required', message);
}
