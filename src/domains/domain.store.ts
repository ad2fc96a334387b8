import { type EntityManager, In, IsNull, LessThanOrEqual, MoreThan, Not } from 'typeorm';
import { nextChange } from '../database/change-sequence.entity.js';
import type { Database } from '../database/database.js';
import { withDrawnId } from '../database/drawn-id.js';
import { Turns } from '../database/turns.js';
import { AppError } from '../errors.js';
import type { IdGenerator } from '../ids.js';
import { Domain } from './domain.entity.js';
import { DomainEvent } from './domain-event.entity.js';
import { newestEvents } from './newest-events.js';
import type { Entry, Happening, Timeline } from './timeline.js';

export type DomainChanges = Partial<Omit<Domain, 'id' | 'projectId' | 'hostname' | 'changeNumber'>>;

/** What becomes of a domain. */
export interface Revision {
  changes: DomainChanges;
  happenings?: readonly Happening[];
  /** Whether serving must know of it, in every process. */
  isServed?: boolean;
}

type NewDomain = Pick<
  Domain,
  'projectId' | 'hostname' | 'registrableDomain' | 'isApex' | 'ownership' | 'nextCheckAtMs'
>;

/** Twice what anybody can read of them at once. */
const MAX_EVENTS = 200;
/** Most transactions wait for the row of the change numbers: one is decided while another commits. */
const MAX_TRANSACTIONS = 2;

/** The rows of domains. A domain that was removed is never changed again, whoever still works on it. */
export class DomainStore {
  private readonly turns = new Turns(MAX_TRANSACTIONS);

  constructor(
    private readonly db: Database,
    private readonly ids: IdGenerator,
    private readonly timeline: Timeline,
    private readonly now: () => number,
  ) {}

  /** Throws `AppError not_found`, for the domains of others too. */
  async get(projectId: bigint, id: bigint): Promise<Domain> {
    const domain = await this.table.findOneBy({ id, projectId, removedAtMs: IsNull() });
    return domain ?? refuseUnknownDomain();
  }

  /** Those of the ids that are domains of the project, in any order. */
  findAll(projectId: bigint, ids: readonly bigint[]): Promise<Domain[]> {
    return this.table.findBy({ id: In([...ids]), projectId, removedAtMs: IsNull() });
  }

  /** Null once it is removed. */
  find(id: bigint): Promise<Domain | null> {
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

  /** How many domains the project has, and how many it has removed since then. One statement. */
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

  /** Whether another project has had the name since then. */
  wasHeldByAnother(hostname: string, projectId: bigint, sinceMs: number): Promise<boolean> {
    return this.table.existsBy({ hostname, projectId: Not(projectId), removedAtMs: MoreThan(sinceMs) });
  }

  /** Makes the project's other domains that send their visitors there serve again, and returns them. Three statements. */
  async endRedirectsTo(manager: EntityManager, { projectId, hostname }: Domain): Promise<Domain[]> {
    const where = { projectId, redirectTo: hostname, removedAtMs: IsNull() };
    const domains = await manager.find(Domain, { where, ...this.db.forUpdate });
    if (domains.length > 0) {
      const changes = { redirectTo: null, redirectStatus: null, changeNumber: await nextChange(manager) };
      await manager.update(Domain, { id: In(domains.map(({ id }) => id)) }, changes);
    }
    return domains;
  }

  /** The newest events of domains of the project, newest first, so many of each as `counts` says. One statement. */
  events(projectId: bigint, counts: ReadonlyMap<bigint, number>): Promise<Map<bigint, DomainEvent[]>> {
    return newestEvents(this.db, projectId, counts);
  }

  async transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    let latest: EntityManager | null = null;
    const result = await this.turns.take(() =>
      this.db.transaction((manager) => {
        latest = manager;
        return work(manager);
      }),
    );
    if (latest) this.timeline.committed(latest);
    return result;
  }

  /** Forgets all but the newest events of domains: their owner can make any number of them. Two statements at most. */
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
   * Without an id it draws one. Throws what the database throws when the name is attached already (`isDuplicate`), or the
   * given id is taken (`isDuplicateId`).
   */
  async insert(manager: EntityManager, wanted: NewDomain, givenId?: bigint): Promise<Domain> {
    const values = {
      ...wanted,
      attachedHostname: wanted.hostname,
      dns: 'PENDING',
      orderState: 'NONE',
      dnsDiagnoses: '[]',
      orderDiagnoses: '[]',
      checkedAtMs: null,
      waitingSinceMs: this.now(),
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
      isPrimary: 0,
      redirectTo: null,
      redirectStatus: null,
      suspendedAtMs: null,
      removedAtMs: null,
      createdAtMs: this.now(),
      changeNumber: await nextChange(manager),
    } as const;
    const insert = async (id: bigint) => {
      const domain = this.table.create({ id, ...values });
      await manager.insert(Domain, domain);
      return domain;
    };
    return givenId === undefined ? withDrawnId(this.ids, insert) : insert(givenId);
  }

  /**
   * Decides on the newest state of the domain, which nobody else can change meanwhile, and stores the outcome. Null when
   * the domain is removed, or `decide` returns null.
   */
  revise(id: bigint, decide: (domain: Domain) => Revision | null): Promise<Domain | null> {
    return this.transaction((manager) => this.reviseIn(manager, id, decide));
  }

  /** As `revise`, within a transaction. */
  async reviseIn(
    manager: EntityManager,
    id: bigint,
    decide: (domain: Domain) => Revision | null | Promise<Revision | null>,
  ): Promise<Domain | null> {
    const where = { id, removedAtMs: IsNull() };
    const domain = await manager.findOne(Domain, { where, ...this.db.forUpdate });
    const revision = domain && (await decide(domain));
    if (!domain || !revision) return null;
    const { changes, happenings = [], isServed = false } = revision;
    await this.timeline.record(
      manager,
      happenings.map((happening) => ({ domain, happening })),
    );
    // Late: all processes wait for the row of the numbers until this transaction ends.
    const numbered = isServed ? { ...changes, changeNumber: await nextChange(manager) } : changes;
    // TypeORM refuses an update of nothing.
    if (Object.keys(numbered).length > 0) await manager.update(Domain, { id }, numbered);
    return this.table.create({ ...domain, ...numbered });
  }

  /**
   * As `reviseIn`, for domains of a project whose serving changes, with five statements whatever their number. Returns
   * those that are left, as they are then.
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
      // Whole rows, which nobody else can change meanwhile.
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

export function refuseUnknownDomain(): never {
  throw new AppError('not_found', 'There is no such domain in this project.');
}
