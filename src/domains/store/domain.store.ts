import { type EntityManager, type FindOptionsWhere, In, IsNull, MoreThan, Not } from 'typeorm';
import { nextChange } from '../../ground/database/change-sequence.entity.js';
import type { Database } from '../../ground/database/database.js';
import { noConnection } from '../../ground/database/database-errors.js';
import { withDrawnId, withDrawnIds } from '../../ground/database/drawn-id.js';
import { newestRows } from '../../ground/database/newest-pages.js';
import { DAY_MS } from '../../ground/kernel/duration.js';
import type { IdGenerator } from '../../ground/kernel/ids.js';
import { INT64_MIN } from '../../ground/kernel/int64.js';
import { FairSemaphore } from '../../ground/scheduling/fair-semaphore.js';
import { fitForStorage } from '../diagnosis/finding.js';
import { Domain, SERVED_COLUMNS } from './domain.entity.js';
import { refuseUnknownDomain } from './domain-status.js';
import { DomainEvent, type Happening, type OnDomainEvent } from './timeline.js';

export type DomainChanges = Partial<Omit<Domain, 'id' | 'projectId' | 'hostname' | 'changeNumber'>>;

export interface Revision {
  changes: DomainChanges;
  happenings?: readonly Happening[];
}

/** The change of a domain, in the transaction of `manager`; null = none. */
export type Decide = (domain: Domain, manager: EntityManager) => Revision | null | Promise<Revision | null>;

interface Revised extends Revision {
  domain: Domain;
}

interface DomainHooks {
  onEvent: OnDomainEvent;
  /** Called for each project of which committed changes are stored. */
  onChange(projectId: bigint): void;
  /** Applies committed changes to the hosts that this process serves. Never rejects. */
  syncHosts(): Promise<void>;
}

type NewDomain = Pick<
  Domain,
  'projectId' | 'hostname' | 'registrableDomain' | 'isApex' | 'ownership' | 'nextCheckAtMs'
>;

/** How long a removed domain is kept: its DNS may still point here, so another project must prove the name. */
export const CLAIM_MS = 90 * DAY_MS;
const SCANNED_ROWS = 1_000;
/** Each has hundreds of events. */
const MAX_DELETED = 50;
/** Most transactions wait for the row of the change numbers. With two, one runs while the other commits. */
const MAX_TRANSACTIONS = 2;
/** Within the 5 s in which a request is answered. */
const TRANSACTION_PATIENCE_MS = 4_000;

/** Of an event. Small, because a domain keeps many. */
const MAX_DIAGNOSES_BYTES = 8_000;
const MAX_MESSAGE_CHARACTERS = 2_000;
/**
 * The newest events of a domain: its id, its project, and their number. The scalar subquery checks the project and runs once,
 * so the rows are read by the index.
 */
const OF_ONE = `WHERE domain_id = (SELECT domains.id FROM domains WHERE domains.id = ? AND domains.project_id = ?)
  ORDER BY domain_events.id DESC LIMIT ?`;

/** Reads and writes the rows of domains. A removed domain is never changed again. */
export class DomainStore {
  private readonly transactions = new FairSemaphore({ most: MAX_TRANSACTIONS });
  /** The changes of each transaction. */
  private readonly revised = new WeakMap<EntityManager, Revised[]>();
  /** The last id that `deleteRemoved` has seen. */
  private scannedId = INT64_MIN;

  constructor(
    private readonly db: Database,
    private readonly ids: IdGenerator,
    private readonly hooks: DomainHooks,
    private readonly now: () => number,
  ) {}

  /** Throws `AppError not_found`, also for domains of other projects. */
  async get(projectId: bigint, id: bigint): Promise<Domain> {
    const domain = await this.table.findOneBy({ id, projectId, removedAtMs: IsNull() });
    return domain ?? refuseUnknownDomain();
  }

  /** The project's domains among these ids, in any order. */
  findAll(projectId: bigint, ids: readonly bigint[]): Promise<Domain[]> {
    return this.table.findBy({ id: In([...ids]), projectId, removedAtMs: IsNull() });
  }

  /** Null when the domain is removed. */
  findDomain(id: bigint): Promise<Domain | null> {
    return this.table.findOneBy({ id, removedAtMs: IsNull() });
  }

  findAttached(hostname: string): Promise<Domain | null> {
    return this.table.findOneBy({ attachedHostname: hostname });
  }

  list(projectId: bigint): Promise<Domain[]> {
    return this.table.find({ where: { projectId, removedAtMs: IsNull() }, order: { id: 'ASC' } });
  }

  /** Whether another project had the name and lost it after `sinceMs`. */
  wasHeldByAnother(hostname: string, projectId: bigint, sinceMs: number): Promise<boolean> {
    return this.table.existsBy({ hostname, projectId: Not(projectId), removedAtMs: MoreThan(sinceMs) });
  }

  /** The newest events of the project's domains, newest first; `counts` gives the number for each domain. One statement. */
  async events(projectId: bigint, counts: ReadonlyMap<bigint, number>): Promise<Map<bigint, DomainEvent[]>> {
    const selects = [...counts].map(([id, count]) => ({ sql: OF_ONE, values: [id, projectId, count] }));
    const events = await newestRows(this.db, DomainEvent, selects);
    return new Map([...counts.keys()].map((id, at) => [id, events[at] ?? []]));
  }

  /**
   * Runs `work`, then applies its changes to the hosts that this process serves. A waiting transaction holds no connection.
   * After 4 s it throws as a pool without a free connection does.
   */
  async transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const done = await this.transactions.runWithin(TRANSACTION_PATIENCE_MS, null, () =>
      // A transaction that is repeated begins with an empty list: the events of a rolled-back one are never reported.
      this.db.transaction(async (manager) => {
        const revised: Revised[] = [];
        this.revised.set(manager, revised);
        return { result: await work(manager), revised };
      }),
    );
    if (done === null) throw noConnection(TRANSACTION_PATIENCE_MS);
    const { result, revised } = done.result;
    for (const { domain, happenings = [] } of revised) {
      for (const happening of happenings) this.hooks.onEvent({ ...happening, hostname: domain.hostname });
    }
    for (const projectId of new Set(revised.map(({ domain }) => domain.projectId))) {
      this.hooks.onChange(projectId);
    }
    if (revised.some(isServedChange)) await this.hooks.syncHosts();
    return result;
  }

  /**
   * Deletes a batch of the domains that were removed more than `CLAIM_MS` ago, with their timelines; returns its size. Scans
   * by id: an index on the removal time would mislead SQLite's query plans for due work.
   */
  async deleteRemoved(): Promise<number> {
    const rows = await this.table.find({
      select: { id: true, removedAtMs: true },
      where: { id: MoreThan(this.scannedId) },
      order: { id: 'ASC' },
      take: SCANNED_ROWS,
    });
    const beforeMs = this.now() - CLAIM_MS;
    const old = rows.filter(({ removedAtMs }) => removedAtMs !== null && removedAtMs < beforeMs);
    const ids = old.slice(0, MAX_DELETED).map(({ id }) => id);
    if (ids.length > 0) {
      await this.db.write(() => this.db.repository(DomainEvent).delete({ domainId: In(ids) }));
      await this.db.write(() => this.table.delete({ id: In(ids) }));
    }
    this.scannedId = ids[MAX_DELETED - 1] ?? rows[SCANNED_ROWS - 1]?.id ?? INT64_MIN;
    return ids.length;
  }

  /** Throws the database's error when the name is already attached (`isDuplicate`). */
  async insert(manager: EntityManager, wanted: NewDomain): Promise<Domain> {
    const domain = newDomain(wanted, this.now());
    domain.changeNumber = await nextChange(manager);
    await withDrawnId(this.ids, (id) => manager.insert(Domain, Object.assign(domain, { id })));
    const message = `${domain.hostname} was attached to the project.`;
    await this.record(manager, [{ domain, changes: {}, happenings: [{ name: 'domain.added', message }] }]);
    return domain;
  }

  /** As `reviseIn`, for one domain, in its own transaction. Null when it is removed or `decide` returns null. */
  async revise(id: bigint, decide: Decide): Promise<Domain | null> {
    const [revised = null] = await this.transaction((manager) => this.reviseIn(manager, { id }, decide));
    return revised;
  }

  /**
   * Locks the rows, calls `decide` with the newest state of each and stores the outcomes, with at most four statements.
   * Returns the new state of the domains for which `decide` did not return null. A removed domain is left out.
   */
  async reviseIn(manager: EntityManager, which: FindOptionsWhere<Domain>, decide: Decide): Promise<Domain[]> {
    const where = { ...which, removedAtMs: IsNull() };
    const domains = await manager.find(Domain, { where, order: { id: 'ASC' }, ...this.db.forUpdate });
    const revised: Revised[] = [];
    for (const domain of domains) {
      const revision = await decide(domain, manager);
      if (revision) revised.push({ domain, ...revision });
    }
    await this.record(manager, revised);
    // As late as possible: all processes wait for the row of the numbers until this transaction ends.
    const changed = revised.filter(({ changes }) => Object.keys(changes).length > 0);
    const numbered = changed.some(isServedChange) ? { changeNumber: await nextChange(manager) } : {};
    for (const { domain, changes } of changed) Object.assign(domain, changes, numbered);
    const rows = changed.map(({ domain }) => domain);
    // Whole rows are safe, because the rows are locked.
    if (rows.length > 0) await manager.upsert(Domain, rows, ['id']);
    return revised.map(({ domain }) => domain);
  }

  /** Joins the caller's transaction, so that every change has its event. One statement. */
  private async record(manager: EntityManager, revised: readonly Revised[]): Promise<void> {
    this.revised.get(manager)?.push(...revised);
    const atMs = this.now();
    const rows = revised.flatMap(({ domain, happenings = [] }) =>
      happenings.map(({ name, message, diagnoses = [] }) => ({
        domainId: domain.id,
        atMs,
        name,
        message: message.slice(0, MAX_MESSAGE_CHARACTERS),
        diagnoses: fitForStorage(diagnoses, MAX_DIAGNOSES_BYTES),
      })),
    );
    if (rows.length === 0) return;
    await withDrawnIds(this.ids, rows.length, (ids) =>
      manager.insert(
        DomainEvent,
        rows.map((row, index) => ({ id: ids[index] as bigint, ...row })),
      ),
    );
  }

  private get table() {
    return this.db.repository(Domain);
  }
}

/** Whether every process must read the change. */
function isServedChange({ changes }: Revision): boolean {
  return Object.keys(changes).some((column) => column in SERVED_COLUMNS);
}

/** A domain that was attached now and never checked. */
export function newDomain(wanted: NewDomain, nowMs: number): Domain {
  const times = { waitingSinceMs: nowMs, createdAtMs: nowMs };
  return Object.assign(new Domain(), wanted, { attachedHostname: wanted.hostname, ...times });
}
