import { type EntityManager, In, IsNull, LessThanOrEqual, MoreThan, Not } from 'typeorm';
import { nextChange } from '../../ground/database/change-sequence.entity.js';
import type { Database } from '../../ground/database/database.js';
import { noConnection } from '../../ground/database/database-errors.js';
import { withDrawnId } from '../../ground/database/drawn-id.js';
import { AppError } from '../../ground/kernel/errors.js';
import type { IdGenerator } from '../../ground/kernel/ids.js';
import { FairSemaphore } from '../../ground/scheduling/fair-semaphore.js';
import { Domain } from './domain.entity.js';
import { DomainEvent, type Entry, type Happening, newestEvents, type Timeline } from './timeline.js';

export type DomainChanges = Partial<Omit<Domain, 'id' | 'projectId' | 'hostname' | 'changeNumber'>>;

/** A change of a domain, with its timeline entries. */
export interface Revision {
  changes: DomainChanges;
  happenings?: readonly Happening[];
  /** True = serving depends on the change, so every process must read it. */
  affectsServing?: boolean;
}

type NewDomain = Pick<
  Domain,
  'projectId' | 'hostname' | 'registrableDomain' | 'isApex' | 'ownership' | 'nextCheckAtMs'
>;

/** Stored events per domain: twice as many as one request can read. */
const MAX_EVENTS = 200;
/** Most transactions wait for the row of the change numbers. With two, one runs while the other commits. */
const MAX_TRANSACTIONS = 2;
/** Within the 5 s in which a request is answered. */
const TRANSACTION_PATIENCE_MS = 4_000;

/** Reads and writes the rows of domains. A removed domain is never changed again. */
export class DomainStore {
  private readonly transactions = new FairSemaphore({ most: MAX_TRANSACTIONS });

  constructor(
    private readonly db: Database,
    private readonly ids: IdGenerator,
    private readonly timeline: Timeline,
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

  count(projectId: bigint, manager = this.table.manager): Promise<number> {
    return manager.countBy(Domain, { projectId, removedAtMs: IsNull() });
  }

  /** The numbers of the project's attached domains and of those removed after `sinceMs`. One statement. */
  async counts(projectId: bigint, sinceMs: number): Promise<{ attached: number; removed: number }> {
    const counts = await this.table
      .createQueryBuilder('domain')
      .select('COUNT(*)', 'both')
      .addSelect('COUNT(domain.removedAtMs)', 'removed')
      .where([
        { projectId, removedAtMs: IsNull() },
        { projectId, removedAtMs: MoreThan(sinceMs) },
      ])
      .getRawOne();
    const removed = Number(counts.removed);
    return { attached: Number(counts.both) - removed, removed };
  }

  /** Whether another project had the name and lost it after `sinceMs`. */
  wasHeldByAnother(hostname: string, projectId: bigint, sinceMs: number): Promise<boolean> {
    return this.table.existsBy({ hostname, projectId: Not(projectId), removedAtMs: MoreThan(sinceMs) });
  }

  /** Removes the redirects of the project's other domains to this one, and returns those domains. Three statements. */
  async endRedirectsTo(manager: EntityManager, { projectId, hostname }: Domain): Promise<Domain[]> {
    const where = { projectId, redirectTo: hostname, removedAtMs: IsNull() };
    const domains = await manager.find(Domain, { where, ...this.db.forUpdate });
    if (domains.length > 0) {
      const changes = { redirectTo: null, redirectStatus: null, changeNumber: await nextChange(manager) };
      await manager.update(Domain, { id: In(domains.map(({ id }) => id)) }, changes);
    }
    return domains;
  }

  /** The newest events of the project's domains, newest first; `counts` gives the number for each domain. One statement. */
  events(projectId: bigint, counts: ReadonlyMap<bigint, number>): Promise<Map<bigint, DomainEvent[]>> {
    return newestEvents(this.db, projectId, counts);
  }

  /** A waiting transaction holds no connection. After 4 s it throws as a pool without a free connection does. */
  async transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    let latest: EntityManager | null = null;
    const done = await this.transactions.runWithin(TRANSACTION_PATIENCE_MS, null, () =>
      this.db.transaction((manager) => {
        latest = manager;
        return work(manager);
      }),
    );
    if (done === null) throw noConnection(TRANSACTION_PATIENCE_MS);
    if (latest) this.timeline.committed(latest);
    return done.result;
  }

  /** Deletes all but the newest events of these domains, because an owner can cause any number. At most two statements. */
  async prune(domainIds: readonly bigint[]): Promise<void> {
    if (domainIds.length === 0) return;
    const sql =
      'SELECT domain_id AS domainId, id FROM domain_events WHERE domain_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?';
    const newestToForget = await this.db.union<{ domainId: string | bigint; id: string | bigint }>(
      domainIds.map((id) => ({ sql, values: [id, MAX_EVENTS] })),
    );
    if (newestToForget.length === 0) return;
    const old = newestToForget.map(({ domainId, id }) => ({
      domainId: BigInt(domainId),
      id: LessThanOrEqual(BigInt(id)),
    }));
    const events = this.db.repository(DomainEvent);
    await this.db.write(() => events.createQueryBuilder().delete().where(old).execute());
  }

  /**
   * Draws an id when none is given. Throws the database's error when the name is already attached (`isDuplicate`) or the
   * given id is taken (`isDuplicateId`).
   */
  async insert(manager: EntityManager, wanted: NewDomain, givenId?: bigint): Promise<Domain> {
    const values = { ...newDomain(wanted, this.now()), changeNumber: await nextChange(manager) };
    const insert = async (id: bigint) => {
      const domain = this.table.create({ id, ...values });
      await manager.insert(Domain, domain);
      return domain;
    };
    return givenId === undefined ? withDrawnId(this.ids, insert) : insert(givenId);
  }

  /**
   * Locks the row, calls `decide` with its newest state and stores the outcome. Null when the domain is removed or `decide`
   * returns null.
   */
  revise(id: bigint, decide: (domain: Domain) => Revision | null): Promise<Domain | null> {
    return this.transaction((manager) => this.reviseIn(manager, id, decide));
  }

  /** As `revise`, in the caller's transaction. */
  async reviseIn(
    manager: EntityManager,
    id: bigint,
    decide: (domain: Domain) => Revision | null | Promise<Revision | null>,
  ): Promise<Domain | null> {
    const where = { id, removedAtMs: IsNull() };
    const domain = await manager.findOne(Domain, { where, ...this.db.forUpdate });
    const revision = domain && (await decide(domain));
    if (!domain || !revision) return null;
    const { changes, happenings = [], affectsServing = false } = revision;
    await this.timeline.record(
      manager,
      happenings.map((happening) => ({ domain, happening })),
    );
    // As late as possible: all processes wait for the row of the numbers until this transaction ends.
    const numbered = affectsServing ? { ...changes, changeNumber: await nextChange(manager) } : changes;
    // TypeORM rejects an empty update.
    if (Object.keys(numbered).length > 0) await manager.update(Domain, { id }, numbered);
    return Object.assign(domain, numbered);
  }

  /**
   * As `reviseIn`, for any number of domains whose serving changes, with five statements. Returns the updated domains
   * without the removed ones.
   */
  async reviseAllIn(
    manager: EntityManager,
    ids: readonly bigint[],
    decide: (domain: Domain) => Revision,
  ): Promise<Domain[]> {
    const where = { id: In([...ids]), removedAtMs: IsNull() };
    const domains = await manager.find(Domain, { where, order: { id: 'ASC' }, ...this.db.forUpdate });
    const decided = domains.map((domain) => ({ domain, revision: decide(domain) }));
    const changed = decided.filter(({ revision }) => Object.keys(revision.changes).length > 0);
    const entries = changed.flatMap(({ domain, revision: { happenings = [] } }) =>
      happenings.map((happening) => ({ domain, happening })),
    );
    await this.timeline.record(manager, entries);
    if (changed.length > 0) {
      const changeNumber = await nextChange(manager);
      // Whole rows are safe, because the rows are locked.
      const rows = changed.map(({ domain, revision }) => ({ ...domain, ...revision.changes, changeNumber }));
      await manager.upsert(Domain, rows, ['id']);
    }
    return decided.map(({ domain, revision }) => this.table.create({ ...domain, ...revision.changes }));
  }

  record(manager: EntityManager, entries: readonly Entry[]): Promise<void> {
    return this.timeline.record(manager, entries);
  }

  private get table() {
    return this.db.repository(Domain);
  }
}

/** A domain that was attached now and never checked. */
export function newDomain(wanted: NewDomain, nowMs: number): Omit<Domain, 'id' | 'changeNumber'> {
  return {
    ...wanted,
    attachedHostname: wanted.hostname,
    dns: 'PENDING',
    orderState: 'NONE',
    dnsDiagnoses: [],
    orderDiagnoses: [],
    checkedAtMs: null,
    waitingSinceMs: nowMs,
    mismatchSinceMs: null,
    verifiedAtMs: null,
    certificateId: null,
    certificateEndsAtMs: null,
    nextOrderAtMs: null,
    failedOrders: 0,
    leaseUntilMs: 0,
    leaseNumber: 0,
    orderUrl: null,
    orderSealedKey: null,
    isPrimary: false,
    redirectTo: null,
    redirectStatus: null,
    suspendedAtMs: null,
    removedAtMs: null,
    createdAtMs: nowMs,
  };
}

export function refuseUnknownDomain(): never {
  throw new AppError('not_found', 'There is no such domain in this project.');
}
