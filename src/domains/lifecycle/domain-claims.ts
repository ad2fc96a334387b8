import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager, Repository } from 'typeorm';
import type { Database } from '../../ground/database/database.js';
import { isDuplicate } from '../../ground/database/database-errors.js';
import type { Actor } from '../../ground/kernel/caller.js';
import { DAY_MS } from '../../ground/kernel/duration.js';
import { AppError } from '../../ground/kernel/errors.js';
import type { AuditLog } from '../../tenants/audit/audit-log.js';
import { allowsCustomDomains } from '../../tenants/projects/plans.js';
import { Project } from '../../tenants/projects/project.entity.js';
import type { CertificateStore } from '../certificates/store/certificate.store.js';
import type { Inspection } from '../diagnosis/diagnose.js';
import { type OwnershipRecord, ownershipRecord } from '../diagnosis/dns-records.js';
import { KNOWLEDGE_MS } from '../hosts/host-index.js';
import { parseHostname } from '../names/hostname.js';
import { Domain } from '../store/domain.entity.js';
import { CLAIM_MS, type DomainStore } from '../store/domain.store.js';
import { MAX_DOMAINS } from '../store/domain-sizes.js';
import { refuseUnknownDomain } from '../store/domain-status.js';
import type { Happening } from '../store/timeline.js';
import { type DomainCheck, planRequired } from './domain-check.js';

/** Each removed domain leaves a row and a timeline for `CLAIM_MS`. */
const MAX_REMOVED_A_DAY = 500;
const FIRST_CHECK_MS = 30_000;

type Alongside = ((manager: EntityManager, id: bigint) => Promise<void>) | null;

/** A removed domain, which no process serves any more. */
export interface StoppedDomain {
  readonly id: bigint;
  readonly hostname: string;
  readonly stoppedAtMs: number;
}

interface ClaimParts {
  db: Database;
  store: DomainStore;
  check: DomainCheck;
  certificates: CertificateStore;
  audit: AuditLog;
}

/** Attaches host names to projects, with a proof for names that already point here, and ends such claims. D-58, D-59. */
export class DomainClaims {
  constructor(
    private readonly parts: ClaimParts,
    /** The platform's own hosts. They and all names below them are never attached. */
    private readonly ownHosts: readonly string[],
    private readonly now: () => number,
  ) {}

  /**
   * Claims the name for the project. The claim is unique among all projects and processes. A name that is attached to
   * another project moves here when a TXT record proves ownership. `alongside` joins the transaction.
   * Throws `AppError invalid_request`, `plan_required`, `not_published`, `conflict`. Spec: Custom domains 1–5.
   */
  async add(actor: Actor, projectId: bigint, input: string, alongside: Alongside): Promise<Domain> {
    const { db, store, check } = this.parts;
    const { hostname, registrableDomain, isApexByList } = parseHostname(input, this.ownHosts);
    const holder = await store.findAttached(hostname);
    if (holder?.projectId === projectId) throw attachedHere(hostname);
    await this.requireRoom(db.repository(Project), projectId, 1);
    const proof = ownershipRecord(projectId, hostname);
    const subject = { projectId, hostname, isApex: isApexByList, ownership: proof };
    const inspection = await check.inspectForOwner(subject);
    const { isApex, isReachingUs, isUnderWildcard } = inspection;
    if (holder) requireProof(holder, proof, inspection);
    const wasClaimed = !holder && (await store.wasHeldByAnother(hostname, projectId, this.now() - CLAIM_MS));
    // Null = could not be asked, so the name may point here.
    const mustProve = isReachingUs !== false || isUnderWildcard !== false || wasClaimed;
    const wanted = {
      projectId,
      hostname,
      registrableDomain,
      isApex,
      ownership: holder ? ('PROVED' as const) : mustProve ? ('REQUIRED' as const) : ('ASSUMED' as const),
      nextCheckAtMs: this.now() + FIRST_CHECK_MS,
    };
    return this.insert(actor, wanted, { holder, alongside });
  }

  private async insert(
    actor: Actor,
    wanted: Parameters<DomainStore['insert']>[1],
    { holder, alongside }: { holder: Domain | null; alongside: Alongside },
  ): Promise<Domain> {
    const { store, audit } = this.parts;
    const { projectId, hostname } = wanted;
    try {
      return await store.transaction(async (manager) => {
        if (holder) {
          const message = `${hostname} was moved to another project, whose TXT record proves ownership.`;
          await this.endDomain(manager, holder, { name: 'domain.moved', message });
        }
        const domain = await store.insert(manager, wanted);
        // The insert holds the lock that every insert and every change of a plan needs, so this reads all of them.
        await this.requireRoom(manager.getRepository(Project), projectId, 0);
        const act = { action: 'domain.add', projectId, subject: hostname };
        const moved = holder && { ...act, action: 'domain.move_away', projectId: holder.projectId };
        await audit.record(manager, actor, ...(moved ? [moved] : []), act);
        await alongside?.(manager, domain.id);
        return domain;
      });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      const winner = await store.findAttached(hostname);
      throw winner?.projectId === projectId
        ? attachedHere(hostname)
        : attachedElsewhere(hostname, ownershipRecord(projectId, hostname));
    }
  }

  /** Throws unless the project may attach domains, and have `more` than it has. One statement. */
  private async requireRoom(projects: Repository<Project>, id: bigint, more: number): Promise<void> {
    const counted = 'domain.removedAtMs IS NULL OR domain.removedAtMs > :sinceMs';
    const sinceMs = this.now() - DAY_MS;
    const { plan, publishedAtMs, both, removed } = await projects
      .createQueryBuilder('project')
      .leftJoin(Domain, 'domain', `domain.projectId = project.id AND (${counted})`, { sinceMs })
      .select('project.plan', 'plan')
      .addSelect('project.publishedAtMs', 'publishedAtMs')
      .addSelect('COUNT(domain.projectId)', 'both')
      .addSelect('COUNT(domain.removedAtMs)', 'removed')
      .where({ id })
      .groupBy('project.id')
      .getRawOne();
    if (!allowsCustomDomains(plan)) throw planRequired();
    if (publishedAtMs === null) {
      const message = 'The project has never been deployed. Publish it first, then add its domain.';
      throw new AppError('not_published', message);
    }
    if (Number(both) - Number(removed) + more > MAX_DOMAINS)
      throw conflict(`A project has at most ${MAX_DOMAINS} domains. Remove one first.`);
    if (Number(removed) >= MAX_REMOVED_A_DAY)
      throw conflict(`The project has removed ${MAX_REMOVED_A_DAY} domains in a day. Try again tomorrow.`);
  }

  /**
   * Removes the domain at the owner's request. Resolves when no process serves it any more: none uses a host table older
   * than `KNOWLEDGE_MS`. Throws `AppError not_found`. Spec: Custom domains 11. D-62.
   */
  async remove(actor: Actor, projectId: bigint, id: bigint): Promise<StoppedDomain> {
    const { store, audit } = this.parts;
    const domain = await store.get(projectId, id);
    const { hostname } = domain;
    await store.transaction(async (manager) => {
      const message = `${hostname} was removed and is no longer served.`;
      if (!(await this.endDomain(manager, domain, { name: 'domain.removed', message })))
        return refuseUnknownDomain();
      await audit.record(manager, actor, { action: 'domain.remove', projectId, subject: hostname });
    });
    await sleep(KNOWLEDGE_MS);
    return { id, hostname, stoppedAtMs: this.now() };
  }

  /** Ends the claim, the private keys, the redirects to the domain, and its serving. False = the domain has already ended. */
  private async endDomain(manager: EntityManager, domain: Domain, happening: Happening): Promise<boolean> {
    const { store, certificates } = this.parts;
    const { id, projectId, hostname } = domain;
    const unled = { redirectTo: null, redirectStatus: null };
    const ended = {
      attachedHostname: null,
      removedAtMs: this.now(),
      nextCheckAtMs: null,
      nextOrderAtMs: null,
    };
    const revised = await store.reviseIn(manager, { projectId }, (each) => {
      if (each.id === id) return { changes: ended, happenings: [happening] };
      if (each.redirectTo !== hostname) return null;
      const message = `${each.hostname} no longer redirects to ${hostname}, which was removed.`;
      const happenings = [{ name: 'domain.configured' as const, message }];
      return { changes: unled, happenings };
    });
    if (!revised.some((each) => each.id === id)) return false;
    await certificates.destroy(manager, domain);
    return true;
  }
}

/**
 * The name moves when DNS has the new project's proof and not the holder's. If both counted, two projects could take the
 * name from each other again and again, with an order each time. A request without a proof changes nothing.
 */
function requireProof(
  { hostname, ...holder }: Domain,
  wanted: OwnershipRecord,
  { proofs, diagnoses }: Inspection,
): void {
  const lacking = diagnoses.find(({ code, severity }) => code === 'DNS_NO_RECORD' && severity === 'WARNING');
  if (!proofs.includes(wanted.value)) throw attachedElsewhere(hostname, wanted, lacking?.remedy);
  const other = ownershipRecord(holder.projectId, hostname).value;
  if (proofs.includes(other)) {
    throw conflict(
      `${hostname} is attached to another project, and the TXT record ${wanted.name} proves ownership for both. To move it here, delete the value ${other} there and add the domain again.`,
    );
  }
}

const conflict = (message: string) => new AppError('conflict', message);
const attachedHere = (hostname: string) => conflict(`${hostname} is already attached to this project.`);

/** `first`: what must be done before a TXT record may stand there. */
function attachedElsewhere(hostname: string, { name, value }: OwnershipRecord, first?: string): AppError {
  const before = first === undefined ? '' : ` First: ${first}`;
  return conflict(
    `${hostname} is attached to another project. Remove it there. To move it here instead, create the TXT record ${name} with the value ${value} and add the domain again.${before}`,
  );
}
