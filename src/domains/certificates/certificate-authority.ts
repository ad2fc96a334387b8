import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../ground/database/database.js';
import { withinDeadline } from '../../ground/kernel/deadline.js';
import type { IdGenerator } from '../../ground/kernel/ids.js';
import type { AcmeClient } from './acme/acme-client.js';
import { AcmeUnreachable } from './acme/acme-problem.js';
import { AcmeAccounts } from './orders/acme-accounts.js';
import { OrderAttempt, type OrderParts, type OrderRequest } from './orders/order-attempt.js';
import { CertificateOrderError, orderFailure } from './orders/order-failure.js';
import { OrderLog } from './orders/order-log.js';
import { momentIn } from './orders/renewal.js';
import type { Certificate, NewCertificate } from './store/certificate.store.js';
import type { Sealer } from './store/sealer.js';

export interface OrderHooks {
  signal: AbortSignal;
  /** Called after a new order was placed. If it throws, the attempt ends. */
  onOrdered(): Promise<void>;
}

type AuthorityOptions = Pick<OrderParts, 'now'> & Partial<Pick<OrderParts, 'random' | 'wait'>>;

const ORDER_TIMEOUT_MS = 60_000;
const pause: OrderParts['wait'] = (ms, signal) => sleep(ms, undefined, { signal });
/** A check waits for the advice, and other checks for its slot. */
const ADVICE_TIMEOUT_MS = 5_000;

/**
 * The certificate authority for domains. Its orders have a timeout, survive their process, are counted against the CA's
 * limits, and fail with a reason: every failure of the CA is thrown as `CertificateOrderError`. An aborted signal throws
 * its reason.
 */
export class CertificateAuthority {
  private readonly accounts: AcmeAccounts;
  private readonly parts: OrderParts;

  constructor(
    private readonly client: AcmeClient,
    { db, ids, sealer }: { db: Database; ids: IdGenerator; sealer: Sealer },
    { now, random = Math.random, wait = pause }: AuthorityOptions,
    private readonly orderTimeoutMs = ORDER_TIMEOUT_MS,
  ) {
    const log = new OrderLog(db, ids, client.settings.limits, now);
    this.accounts = new AcmeAccounts(client, db, sealer, now);
    this.parts = { client, log, sealer, now, random, wait };
  }

  /**
   * The names that CAA records may have: the CA's issuer names, and the account for orders (RFC 8657), created if there is none. No
   * issuer name = neither the settings nor the CA has any.
   */
  caaNames(signal: AbortSignal): Promise<{ identities: readonly string[]; accountUrl: string }> {
    return this.bounded(null, signal, async (deadline) => {
      const { accountUrl } = await this.accounts.current(deadline);
      if (this.client.settings.caaIdentities.length === 0) await this.client.directory(deadline);
      return { identities: this.client.caaIdentities, accountUrl };
    });
  }

  /**
   * Orders a certificate, or completes the domain's unfinished order, and stores nothing of the certificate. Over a limit
   * it throws without a request to the CA.
   */
  order(request: OrderRequest, { signal, onOrdered }: OrderHooks): Promise<NewCertificate> {
    return this.bounded(request.hostname, signal, (deadline) =>
      this.accounts.use(deadline, (signer) =>
        new OrderAttempt(this.parts, request, signer, deadline).issue(onOrdered),
      ),
    );
  }

  /** A random time in the CA's renewal window; null = `plannedMs` stays. RFC 9773. */
  renewalTime(
    certificate: Pick<Certificate, 'renewalId' | 'notBeforeMs' | 'notAfterMs' | 'hostname'>,
    plannedMs: number | null,
    signal: AbortSignal,
  ): Promise<number | null> {
    const { renewalId, hostname } = certificate;
    const { now, random } = this.parts;
    const advice = async (deadline: AbortSignal) => {
      const window = renewalId === null ? null : await this.client.renewalWindow(renewalId, deadline);
      return window && momentIn(window, certificate, { plannedMs, nowMs: now(), random });
    };
    return this.bounded(hostname, signal, advice, ADVICE_TIMEOUT_MS);
  }

  deleteExpiredRows(): Promise<number> {
    return this.parts.log.deleteOldOrders();
  }

  private async bounded<T>(
    /** Null = not about one host. */
    hostname: string | null,
    signal: AbortSignal,
    work: (deadline: AbortSignal) => Promise<T>,
    timeoutMs = this.orderTimeoutMs,
  ): Promise<T> {
    const url = this.client.settings.directoryUrl;
    const onTimeout = () => new AcmeUnreachable(`the CA did not finish within ${timeoutMs} ms`, { url });
    try {
      return await withinDeadline(signal, { timeoutMs, onTimeout }, work);
    } catch (error) {
      const identities = this.client.caaIdentities;
      const failure = orderFailure(error, { hostname, identities, nowMs: this.parts.now() });
      throw failure ? new CertificateOrderError(failure, { cause: error }) : error;
    }
  }
}
