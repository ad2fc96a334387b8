import { type EntityManager, type FindOptionsWhere, In, IsNull, LessThan, MoreThan, Not } from 'typeorm';
import type { AcmeLimits } from '../../../ground/config/config.js';
import { ChangeSequence } from '../../../ground/database/change-sequence.entity.js';
import type { Database } from '../../../ground/database/database.js';
import { withDrawnId } from '../../../ground/database/drawn-id.js';
import { deleteInSteps } from '../../../ground/database/retention.js';
import { HOUR_MS } from '../../../ground/kernel/duration.js';
import type { IdGenerator } from '../../../ground/kernel/ids.js';
import type { DiagnosisCode } from '../../diagnosis/diagnosis.js';
import { finding } from '../../diagnosis/finding.js';
import { AcmeOrder, ENDED } from '../store/acme-order.entity.js';
import { CertificateOrderError } from './order-failure.js';

export type PlannedOrder = Pick<
  AcmeOrder,
  'domainId' | 'projectId' | 'hostname' | 'registrableDomain' | 'isRenewal' | 'sealedKey'
> & {
  /** The name has had a certificate. */
  isCertified: boolean;
};

export const ISSUED = 'issued';
const WEEK_MS = 7 * 24 * HOUR_MS;
/** An order without outcome counts as issued for this long. After that, its process died and no other resumed it. */
const IN_FLIGHT_MS = HOUR_MS;
/** Far longer than a validation takes, so that another process can resume the order. */
const CHALLENGE_MS = HOUR_MS;
/** A day longer than the longest window of a limit. */
const KEPT_MS = WEEK_MS + 24 * HOUR_MS;
/** The CA may count from another moment. */
const USED_SHARE = 0.9;
/** A project leaves orders to the others. */
const PROJECT_SHARE = 1 / 3;
/** The CA refused or lost these orders, and does not count them. */
const UNCOUNTED: DiagnosisCode[] = ['CA_DOWN', 'CA_PAUSED', 'CA_RATE_LIMITED', 'CA_REJECTED'];
/** The row that a process locks while it counts orders. */
const TURN = { name: 'orders' };

interface Limit {
  /** The counted things, for people. */
  what: string;
  most: number;
  windowMs: number;
  counts: FindOptionsWhere<AcmeOrder>;
}

/** Logs the orders sent to the CA, and refuses those above its limits: the CA would, and for longer. D-190. */
export class OrderLog {
  private lastTurn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly db: Database,
    private readonly ids: IdGenerator,
    private readonly limits: AcmeLimits,
    private readonly now: () => number,
  ) {}

  /**
   * Counts and logs an order before it is sent, in one atomic step for all processes, and returns its id. Over a limit it
   * throws `CertificateOrderError CA_RATE_LIMITED`; `retryAtMs` is the time when the order fits.
   */
  logOrder(planned: PlannedOrder): Promise<bigint> {
    const { isCertified: _, ...order } = planned;
    // Waiting orders of this process hold no connection: only the first one waits for the row.
    const turn = this.lastTurn.then(() =>
      this.db.transaction(async (manager) => {
        // The lock comes first, so that the transaction reads the newest rows.
        await manager.increment(ChangeSequence, TURN, 'value', 1);
        for (const limit of this.limitsOf(planned)) {
          await this.requireRoom(limit, planned.hostname, manager);
        }
        return withDrawnId(this.ids, async (id) => {
          await manager.insert(AcmeOrder, { id, ...order, startedAtMs: this.now() });
          return id;
        });
      }),
    );
    this.lastTurn = turn.catch(() => {});
    return turn;
  }

  newestOrder(domainId: bigint, hostname: string): Promise<AcmeOrder | null> {
    const order = { startedAtMs: 'DESC', id: 'DESC' } as const;
    return this.table.findOne({ where: { domainId, hostname }, order });
  }

  async logUrl(id: bigint, url: string): Promise<void> {
    await this.db.write(() => this.table.update({ id }, { url }));
  }

  /** From now on any process answers the challenge. */
  async logChallenge(id: bigint, keyAuthorization: string): Promise<void> {
    const challengeEndsAtMs = this.now() + CHALLENGE_MS;
    await this.db.write(() => this.table.update({ id }, { keyAuthorization, challengeEndsAtMs }));
  }

  /** After `CA_DOWN` the order may still be good, and a certificate is not stored yet: the next attempt resumes both. */
  async logOutcome(id: bigint, outcome: typeof ISSUED | DiagnosisCode): Promise<void> {
    const ended = outcome === 'CA_DOWN' ? {} : outcome === ISSUED ? { challengeEndsAtMs: null } : ENDED;
    await this.db.write(() => this.table.update({ id }, { outcome, ...ended }));
  }

  /** Deletes the rows that no limit counts any more and returns how many. */
  deleteOldOrders(): Promise<number> {
    const old = { startedAtMs: LessThan(this.now() - KEPT_MS) };
    return deleteInSteps(this.db, AcmeOrder, old, 'startedAtMs');
  }

  /** Renewals are exempt (RFC 9773 §5); a name that has had a certificate is, but for its project (Let's Encrypt). */
  private limitsOf({ projectId, registrableDomain, isRenewal, isCertified }: PlannedOrder): Limit[] {
    const { ordersIn3Hours, certificatesInAWeek } = this.limits;
    const orders = { isRenewal: false, outcome: Not(In(UNCOUNTED)) };
    const ofProject = {
      what: 'orders of this project in three hours',
      most: Math.floor(ordersIn3Hours * PROJECT_SHARE),
      windowMs: 3 * HOUR_MS,
      counts: { ...orders, projectId },
    };
    const ofPlatform = {
      what: 'orders of the whole platform in three hours',
      most: Math.floor(ordersIn3Hours * USED_SHARE),
      windowMs: 3 * HOUR_MS,
      counts: orders,
    };
    const ofDomain = {
      what: 'certificates for names of this registered domain in a week',
      most: Math.floor(certificatesInAWeek * USED_SHARE),
      windowMs: WEEK_MS,
      counts: { isRenewal: false, outcome: ISSUED, registrableDomain },
    };
    if (isRenewal) return [];
    return isCertified ? [ofProject] : [ofDomain, ofProject, ofPlatform];
  }

  private async requireRoom(
    { what, most, windowMs, counts }: Limit,
    hostname: string,
    manager: EntityManager,
  ): Promise<void> {
    const nowMs = this.now();
    const counted = await manager.find(AcmeOrder, {
      select: { id: true, startedAtMs: true, outcome: true },
      where: [
        { ...counts, startedAtMs: MoreThan(nowMs - windowMs) },
        { ...counts, outcome: IsNull(), startedAtMs: MoreThan(nowMs - IN_FLIGHT_MS) },
      ],
      order: { startedAtMs: 'DESC' },
      take: most,
    });
    if (counted.length < most) return;
    const ends = counted.map(
      ({ startedAtMs, outcome }) => startedAtMs + (outcome === null ? IN_FLIGHT_MS : windowMs),
    );
    const question = `${what} (${hostname})`;
    const answer = `${most} of ${most}`;
    throw new CertificateOrderError({
      ...finding('CA_RATE_LIMITED', [], {
        actor: 'NOBODY',
        cause: `There were ${most} ${what}, and this platform orders no more.`,
        remedy: 'Nothing: we retry automatically.',
        retryAtMs: Math.min(...ends),
      }),
      evidence: [{ server: 'order budget', question, answer, ttlSeconds: null, atMs: nowMs }],
    });
  }

  private get table() {
    return this.db.repository(AcmeOrder);
  }
}
