import type { EntityManager } from 'typeorm';
import type { Actor, AuditLog } from '../audit/audit-log.js';
import { isDuplicate, isDuplicateId } from '../database/database-errors.js';
import { AppError } from '../errors.js';
import type { ProjectService } from '../projects/project.service.js';
import { ownershipRecord } from './dns-records.js';
import type { Domain } from './domain.entity.js';
import type { DomainStore } from './domain.store.js';
import { requireCustomDomains } from './domain-plan.js';
import type { DomainRemoval } from './domain-removal.js';
import { type ParsedHostname, parseHostname } from './hostname.js';
import type { Inspector } from './inspector.js';

const DAY_MS = 24 * 3_600_000;
/** Whoever had a name this recently may still have records that lead here. */
const CLAIM_MS = 90 * DAY_MS;
const MAX_DOMAINS = 100;
const FIRST_CHECK_MS = 30_000;

interface AttachmentParts {
  store: DomainStore;
  projects: ProjectService;
  inspector: Inspector;
  removal: DomainRemoval;
  audit: AuditLog;
}

/** Attaches host names to projects, and keeps others from taking over what leads here already. */
export class DomainAttachment {
  constructor(
    private readonly parts: AttachmentParts,
    /** Never attached: the platform's own hosts, and what is below `PLATFORM_HOST`. */
    private readonly ownHosts: readonly string[],
    private readonly now: () => number,
  ) {}

  /**
   * Claims the name for the project; unique among all projects, whatever the number of processes. A name that is attached
   * elsewhere moves here when a TXT record says so.
   * Throws `AppError invalid_request`, `plan_required`, `not_published`, `conflict`; and what the database throws for a
   * given id that is taken (`isDuplicateId`). Spec: Custom domains 1–5.
   */
  async add(actor: Actor, projectId: bigint, input: string, id?: bigint): Promise<Domain> {
    const { store, projects, inspector } = this.parts;
    const name = parseHostname(input, this.ownHosts);
    const project = await projects.get(projectId);
    requireCustomDomains(project);
    if (project.publishedAtMs === null) {
      throw new AppError(
        'not_published',
        'The project has never been deployed. Publish it first, then add its domain.',
      );
    }
    const holder = await store.findAttached(name.hostname);
    if (holder?.projectId === projectId) {
      if (holder.id === id) return holder;
      throw attachedHere(name.hostname);
    }
    if ((await store.count(projectId)) >= MAX_DOMAINS) {
      throw new AppError('conflict', `A project has at most ${MAX_DOMAINS} domains. Remove one first.`);
    }
    const isMoved = holder !== null && (await this.isProved(projectId, name.hostname));
    if (holder && !isMoved) {
      await this.contest(holder);
      throw attachedElsewhere(projectId, name.hostname);
    }
    const survey = await inspector.survey(name.hostname);
    const wasClaimed = await store.wasHeldByAnother(name.hostname, projectId, this.now() - CLAIM_MS);
    // What could not be asked may be the case.
    const mustProve = survey.leadsHere !== false || survey.isUnderWildcard !== false || wasClaimed;
    const wanted = {
      projectId,
      hostname: name.hostname,
      registrableDomain: name.registrableDomain,
      isApex: (survey.isApex ?? name.isApexByList) ? (1 as const) : (0 as const),
      ownership: isMoved ? ('PROVED' as const) : mustProve ? ('REQUIRED' as const) : ('ASSUMED' as const),
      nextCheckAtMs: this.now() + FIRST_CHECK_MS,
    };
    return this.insert(actor, wanted, { holder, id });
  }

  private async insert(
    actor: Actor,
    wanted: Parameters<DomainStore['insert']>[1],
    { holder, id }: { holder: Domain | null; id: bigint | undefined },
  ): Promise<Domain> {
    const { store, removal, audit } = this.parts;
    const { projectId, hostname } = wanted;
    try {
      const attached = await store.transaction(async (manager) => {
        if (holder) await this.moveAway(manager, actor, holder);
        const domain = await store.insert(manager, wanted, id);
        const message = `${hostname} was attached to the project.`;
        await store.record(manager, domain, { name: 'domain.added', message });
        await audit.record(manager, actor, { action: 'domain.add', projectId, subject: hostname });
        return domain;
      });
      if (holder) await removal.ended(holder.id);
      return attached;
    } catch (error) {
      if (!isDuplicate(error) || isDuplicateId(error)) throw error;
      const winner = await store.findAttached(hostname);
      throw winner?.projectId === projectId ? attachedHere(hostname) : attachedElsewhere(projectId, hostname);
    }
  }

  private async moveAway(manager: EntityManager, actor: Actor, holder: Domain): Promise<void> {
    const { removal, audit } = this.parts;
    const { projectId, hostname } = holder;
    const message = `${hostname} was moved to another project, whose TXT record proves ownership.`;
    await removal.end(manager, holder, { name: 'domain.moved', message });
    await audit.record(manager, actor, { action: 'domain.move_away', projectId, subject: hostname });
  }

  private async isProved(projectId: bigint, hostname: string): Promise<boolean> {
    const ownership = ownershipRecord(projectId, hostname);
    const inspection = await this.parts.inspector.inspect({ hostname, isApex: false, ownership });
    return inspection.isOwnershipProved === true;
  }

  /** Somebody else wants the name too. A claim that never led here proves nothing, and must prove itself from now on. */
  private async contest(holder: Domain): Promise<void> {
    const message = 'Another project asked for this name: prove by TXT that it is yours.';
    await this.parts.store.revise(holder.id, ({ ownership, verifiedAtMs }) =>
      ownership === 'ASSUMED' && verifiedAtMs === null
        ? {
            changes: { ownership: 'REQUIRED' },
            happenings: [{ name: 'domain.ownership_contested', message }],
          }
        : null,
    );
  }
}

function attachedHere(hostname: string): AppError {
  return new AppError('conflict', `${hostname} is attached to this project already.`);
}

function attachedElsewhere(projectId: bigint, hostname: ParsedHostname['hostname']): AppError {
  const { name, value } = ownershipRecord(projectId, hostname);
  return new AppError(
    'conflict',
    `${hostname} is attached to another project. Remove it there; or, to move it here, create the TXT record ${name} with the value ${value} and add the domain again.`,
  );
}
