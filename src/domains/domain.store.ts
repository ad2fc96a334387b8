import { type EntityManager, IsNull, LessThan, MoreThan, Not } from 'typeorm';
import { nextChange } from '../database/change-sequence.entity.js';
import type { Database } from '../database/database.js';
import { withDrawnId } from '../database/drawn-id.js';
import { Turns } from '../database/turns.js';
import { AppError } from '../errors.js';
import type { IdGenerator } from '../ids.js';
import { Domain } from './domain.entity.js';
import { DomainEvent } from './domain-event.entity.js';
import type { Happening, Timeline } from './timeline.js';

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

const MAX_EVENTS = 500;
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
    if (!domain) throw new AppError('not_found', 'There is no such domain in this project.');
    return domain;
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

  countRemoved(projectId: bigint, sinceMs: number): Promise<number> {
    return this.table.countBy({ projectId, removedAtMs: MoreThan(sinceMs) });
  }

  /** Whether another project has had the name since then. */
  wasHeldByAnother(hostname: string, projectId: bigint, sinceMs: number): Promise<boolean> {
    return this.table.existsBy({ hostname, projectId: Not(projectId), removedAtMs: MoreThan(sinceMs) });
  }

  /** The project's other domains that send their visitors there. */
  redirectingTo(manager: EntityManager, { projectId, hostname }: Domain): Promise<Domain[]> {
    const where = { projectId, redirectTo: hostname, removedAtMs: IsNull() };
    return manager.find(Domain, { where, ...this.db.forUpdate });
  }

  /** Newest first. */
  events(domainId: bigint, count: number): Promise<DomainEvent[]> {
    const events = this.db.repository(DomainEvent);
    return events.find({ where: { domainId }, order: { id: 'DESC' }, take: count });
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

  /** Forgets all but the newest events of a domain: its owner can make any number of them. */
  async prune(domainId: bigint): Promise<void> {
    const events = this.db.repository(DomainEvent);
    const [oldest] = await events.find({
      where: { domainId },
      order: { id: 'DESC' },
      skip: MAX_EVENTS - 1,
      take: 1,
    });
    if (oldest) await this.db.write(() => events.delete({ domainId, id: LessThan(oldest.id) }));
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
    for (const happening of happenings) await this.timeline.record(manager, domain, happening);
    // Late: all processes wait for the row of the numbers until this transaction ends.
    const numbered = isServed ? { ...changes, changeNumber: await nextChange(manager) } : changes;
    // TypeORM refuses an update of nothing.
    if (Object.keys(numbered).length > 0) await manager.update(Domain, { id }, numbered);
    return this.table.create({ ...domain, ...numbered });
  }

  record(manager: EntityManager, domain: Domain, happening: Happening): Promise<void> {
    return this.timeline.record(manager, domain, happening);
  }

  private get table() {
    return this.db.repository(Domain);
  }
}
