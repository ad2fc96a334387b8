import type { Database } from '../database/database.js';
import { withinDeadline } from '../deadline.js';
import type { IdGenerator } from '../ids.js';
import { AcmeAccounts } from './acme-accounts.js';
import type { AcmeClient } from './acme-client.js';
import { AcmeUnreachable } from './acme-problem.js';
import type { Certificate, NewCertificate } from './certificate.entity.js';
import { CertificateOrders, type OrderHooks, type OrderRequest } from './certificate-orders.js';
import { ChallengeStore } from './challenge-store.js';
import { OpenChallenges } from './open-challenges.js';
import { OrderBudget } from './order-budget.js';
import { CertificateOrderError, type OrderFailure } from './order-failure.js';
import { OrderFlow } from './order-flow.js';
import { OrderLog } from './order-log.js';
import { explained } from './order-problem.js';
import { momentIn, type Random } from './renewal.js';
import type { Sealer } from './sealer.js';

export { CertificateOrderError, type OrderFailure, type OrderHooks, type OrderRequest };

/** A certificate to store; nothing is stored of it yet. */
export interface IssuedCertificate {
  certificate: NewCertificate;
}

interface Surroundings {
  ids: IdGenerator;
  now: () => number;
  random?: Random;
  /** Of a whole order. */
  timeoutMs?: number;
}

const ORDER_TIMEOUT_MS = 60_000;

/**
 * The certificate authority, as domains see it: orders that end in time, survive their process, and fail with a reason.
 * Whatever the CA says or does not say is thrown as `CertificateOrderError`; an aborted signal throws its reason.
 */
export class CertificateAuthority {
  private readonly accounts: AcmeAccounts;
  private readonly challenges: ChallengeStore;
  private readonly openChallenges: OpenChallenges;
  private readonly log: OrderLog;
  private readonly orders: CertificateOrders;
  private readonly random: Random;

  constructor(
    private readonly client: AcmeClient,
    db: Database,
    sealer: Sealer,
    private readonly surroundings: Surroundings,
  ) {
    const { ids, now, random = Math.random } = surroundings;
    this.random = random;
    this.accounts = new AcmeAccounts(client, db, sealer, now);
    this.challenges = new ChallengeStore(db, now);
    this.openChallenges = new OpenChallenges(db, now);
    this.log = new OrderLog(db, ids, now);
    const budget = new OrderBudget(db, now);
    const flow = new OrderFlow(client, this.challenges);
    const { accounts, log } = this;
    this.orders = new CertificateOrders({ client, accounts, sealer, budget, log, flow, now, random });
  }

  /** The account that orders; a CAA record may name it (RFC 8657). Created when there is none. */
  account(signal: AbortSignal): Promise<{ accountUrl: string }> {
    return this.explained(null, async () => {
      const { accountUrl } = await this.accounts.current(signal);
      return { accountUrl };
    });
  }

  /** Issuer names of which a CAA record must allow one. Empty = neither the settings nor the CA name any. */
  caaIdentities(signal: AbortSignal): Promise<readonly string[]> {
    return this.explained(null, async () => {
      if (this.client.settings.caaIdentities.length === 0) await this.client.directory(signal);
      return this.client.caaIdentities;
    });
  }

  /** Orders a certificate, or goes on with an order. Over our own budget it throws without asking the CA. */
  order(request: OrderRequest, { signal, onOrdered }: OrderHooks): Promise<IssuedCertificate> {
    const { timeoutMs = ORDER_TIMEOUT_MS } = this.surroundings;
    const url = request.resume?.orderUrl ?? this.client.settings.directoryUrl;
    const onTimeout = () => new AcmeUnreachable(`the order did not end within ${timeoutMs} ms`, { url });
    return this.explained(request.hostname, () =>
      withinDeadline(signal, { timeoutMs, onTimeout }, async (deadline) => {
        const resumed = await this.orders.resume(request, deadline);
        const hooks = { signal: deadline, onOrdered };
        return { certificate: resumed ?? (await this.orders.place(request, hooks)) };
      }),
    );
  }

  /** When the CA would have the certificate renewed, chosen anew with each call; null = it gives no advice. RFC 9773. */
  renewalTime(
    { renewalId, notAfterMs, hostname }: Pick<Certificate, 'renewalId' | 'notAfterMs' | 'hostname'>,
    signal: AbortSignal,
  ): Promise<number | null> {
    return this.explained(hostname, async () => {
      const window = renewalId === null ? null : await this.client.renewalWindow(renewalId, signal);
      return window && momentIn(window, notAfterMs, { nowMs: this.surroundings.now(), random: this.random });
    });
  }

  /** What to answer to a CA that asks `hostname` for `/.well-known/acme-challenge/<token>`; null = 404. */
  challengeAnswer(token: string, hostname: string): Promise<string | null> {
    return this.openChallenges.answer(token, hostname);
  }

  /** Deletes some of the rows that are of no use any more and returns how many. */
  async sweep(): Promise<number> {
    return (await this.challenges.sweep()) + (await this.log.sweep());
  }

  /** Ends idle connections to the CA. */
  close(): void {
    this.client.close();
  }

  private async explained<T>(hostname: string | null, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const { now } = this.surroundings;
      throw explained(error, { hostname, identities: this.client.caaIdentities, nowMs: now() });
    }
  }
}
