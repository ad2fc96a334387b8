import { createPrivateKey, type KeyObject } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../ground/database/database.js';
import { withinDeadline } from '../../ground/kernel/deadline.js';
import type { IdGenerator } from '../../ground/kernel/ids.js';
import type { AcmeClient } from './acme/acme-client.js';
import { AcmeProblem, AcmeUnreachable } from './acme/acme-problem.js';
import { generateKey, pemOf } from './acme/jws.js';
import { AcmeAccounts } from './orders/acme-accounts.js';
import { CertificateOrderError, orderFailure } from './orders/order-failure.js';
import { OrderFlow, type PlacedOrder, type Wait } from './orders/order-flow.js';
import { ISSUED, OrderLog, type PlannedOrder } from './orders/order-log.js';
import { momentIn, type Random, renewAtMs } from './orders/renewal.js';
import { readChain, UnusableCertificate } from './orders/x509.js';
import type { Certificate, NewCertificate } from './store/certificate.store.js';
import { certificateKeyContext, type Sealer } from './store/sealer.js';

export type OrderRequest = Omit<PlannedOrder, 'isRenewal' | 'sealedKey'> & {
  /** The renewal id of the current certificate; null = none. */
  replaces: string | null;
};

export interface OrderHooks {
  signal: AbortSignal;
  /** Called after a new order was placed. If it throws, the attempt ends. */
  onOrdered(): Promise<void>;
}

interface AuthorityParts {
  db: Database;
  ids: IdGenerator;
  sealer: Sealer;
}

interface AuthorityOptions {
  now: () => number;
  random?: Random;
  /** Between two polls of an order. */
  wait?: Wait;
  /** The timeout of a whole order. */
  timeoutMs?: number;
}

interface LoggedOrder extends PlacedOrder {
  domainId: bigint;
  sealedKey: string;
}

const ORDER_TIMEOUT_MS = 60_000;
const pause: Wait = (ms, signal) => sleep(ms, undefined, { signal });
/** A check waits for the advice, and other checks for its slot. */
const ADVICE_TIMEOUT_MS = 5_000;

/**
 * The certificate authority for domains. Its orders have a timeout, survive their process, are counted against the CA's
 * limits, and fail with a reason: every failure of the CA is thrown as `CertificateOrderError`. An aborted signal throws
 * its reason.
 */
export class CertificateAuthority {
  private readonly accounts: AcmeAccounts;
  private readonly flow: OrderFlow;
  private readonly log: OrderLog;
  private readonly sealer: Sealer;
  private readonly now: () => number;
  private readonly random: Random;
  private readonly timeoutMs: number;

  constructor(
    private readonly client: AcmeClient,
    { db, ids, sealer }: AuthorityParts,
    { now, random = Math.random, wait = pause, timeoutMs = ORDER_TIMEOUT_MS }: AuthorityOptions,
  ) {
    this.sealer = sealer;
    this.accounts = new AcmeAccounts(client, db, sealer, now);
    this.log = new OrderLog(db, ids, client.settings.limits, now);
    this.flow = new OrderFlow(client, this.log, wait);
    this.now = now;
    this.random = random;
    this.timeoutMs = timeoutMs;
  }

  /** The account for orders, created if there is none. A CAA record may name it (RFC 8657). */
  account(signal: AbortSignal): Promise<{ accountUrl: string }> {
    return this.bounded(null, signal, (deadline) => this.accounts.current(deadline));
  }

  /** The CA's issuer names; a CAA record must allow one of them. Empty = neither the settings nor the CA name any. */
  caaIdentities(signal: AbortSignal): Promise<readonly string[]> {
    return this.bounded(null, signal, async (deadline) => {
      if (this.client.settings.caaIdentities.length === 0) await this.client.directory(deadline);
      return this.client.caaIdentities;
    });
  }

  /**
   * Orders a certificate, or completes the domain's unfinished order, and stores nothing of the certificate. Over a limit
   * it throws without a request to the CA.
   */
  order(request: OrderRequest, { signal, onOrdered }: OrderHooks): Promise<NewCertificate> {
    return this.bounded(request.hostname, signal, async (deadline) => {
      const unfinished = await this.findOrder(request, deadline);
      try {
        if (unfinished) return await this.complete(unfinished, deadline);
      } catch (error) {
        // The order failed before this attempt, or it ended so long ago that its certificate has expired.
        const isOver =
          unfinished?.order.status === 'invalid' || (error as Error).cause instanceof UnusableCertificate;
        if (!isOver || deadline.aborted) throw error;
      }
      const placed = await this.place(request, deadline);
      await onOrdered();
      return this.complete(placed, deadline);
    });
  }

  /** A random time in the CA's renewal window; null = `plannedMs` stays. RFC 9773. */
  renewalTime(
    certificate: Pick<Certificate, 'renewalId' | 'notBeforeMs' | 'notAfterMs' | 'hostname'>,
    plannedMs: number | null,
    signal: AbortSignal,
  ): Promise<number | null> {
    const { renewalId, hostname } = certificate;
    const { random } = this;
    const advice = async (deadline: AbortSignal) => {
      const window = renewalId === null ? null : await this.client.renewalWindow(renewalId, deadline);
      return window && momentIn(window, certificate, { plannedMs, nowMs: this.now(), random });
    };
    return this.bounded(hostname, signal, advice, ADVICE_TIMEOUT_MS);
  }

  /** Deletes the expired rows and returns how many. */
  deleteExpiredRows(): Promise<number> {
    return this.log.deleteOldOrders();
  }

  /** Closes idle connections to the CA. */
  close(): void {
    this.client.close();
  }

  /** The unfinished order; null = there is none, its key is lost, or the CA does not know it for this account. */
  private async findOrder(
    { domainId, hostname }: OrderRequest,
    signal: AbortSignal,
  ): Promise<LoggedOrder | null> {
    const { client, accounts, log } = this;
    const unfinished = await log.unfinished(domainId, hostname);
    const key = unfinished && this.opened(unfinished.sealedKey, hostname);
    if (!unfinished || !key) return null;
    const { id: logId, url, sealedKey } = unfinished;
    try {
      return await accounts.use(signal, async (signer) => {
        const order = await client.order(signer, url, signal);
        return { signer, order, domainId, hostname, key, sealedKey, logId };
      });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      await log.logOutcome(logId, 'CA_DOWN');
      return null;
    }
  }

  private async place(request: OrderRequest, signal: AbortSignal): Promise<LoggedOrder> {
    const { replaces: wanted, ...ordered } = request;
    const { domainId, hostname } = request;
    const key = await generateKey();
    const sealedKey = this.sealed(key, hostname);
    const { renewalInfo } = await this.client.directory(signal);
    const replaces = renewalInfo === null ? null : wanted;
    const planned = { ...ordered, isRenewal: replaces !== null, sealedKey };
    const logId = await this.log.logOrder(planned);
    const sent = await this.noted(logId, hostname, signal, () =>
      this.sendNewOrder(planned, { replaces, logId }, signal),
    );
    await this.log.logUrl(logId, sent.order.url);
    return { ...sent, domainId, hostname, key, sealedKey, logId };
  }

  private sendNewOrder(
    planned: PlannedOrder,
    { replaces, logId }: { replaces: string | null; logId: bigint },
    signal: AbortSignal,
  ): Promise<Pick<PlacedOrder, 'signer' | 'order'>> {
    const { client } = this;
    const { hostname } = planned;
    return this.accounts.use(signal, async (signer) => {
      try {
        return { signer, order: await client.newOrder(signer, { hostname, replaces }, signal) };
      } catch (error) {
        if (replaces === null || !mayBeAboutReplacing(error)) throw error;
      }
      // A retry with `replaces` would fail until the certificate expires. Without it the order counts as a first order.
      await this.log.countFully(logId, planned);
      return { signer, order: await client.newOrder(signer, { hostname, replaces: null }, signal) };
    });
  }

  private complete(placed: LoggedOrder, signal: AbortSignal): Promise<NewCertificate> {
    const { domainId, hostname, key, sealedKey, logId } = placed;
    return this.noted(logId, hostname, signal, async () => {
      const chainPem = await this.flow.complete(placed, signal);
      const facts = readChain(chainPem, { hostname, key, nowMs: this.now() });
      await this.log.logOutcome(logId, ISSUED);
      return {
        domainId,
        hostname,
        chainPem,
        // Once all certificates are renewed, no row may be sealed with an earlier key.
        sealedKey: this.sealer.isOutdated(sealedKey) ? this.sealed(key, hostname) : sealedKey,
        ...facts,
        renewAtMs: renewAtMs(facts, this.random),
        createdAtMs: this.now(),
      };
    });
  }

  /** Logs the outcome of a failed order. An aborted order stays in flight. */
  private async noted<T>(
    logId: bigint,
    hostname: string,
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      const error = this.explained(thrown, hostname);
      if (error instanceof CertificateOrderError) await this.log.logOutcome(logId, error.failure.code);
      throw error;
    }
  }

  private sealed(key: KeyObject, hostname: string): string {
    return this.sealer.seal(pemOf(key), certificateKeyContext(hostname));
  }

  /** Null = its SECRET_KEY is not configured any more, so the key is lost. */
  private opened(sealedKey: string, hostname: string): KeyObject | null {
    try {
      return createPrivateKey(this.sealer.open(sealedKey, certificateKeyContext(hostname)));
    } catch {
      return null;
    }
  }

  private async bounded<T>(
    /** Null = not about one host. */
    hostname: string | null,
    signal: AbortSignal,
    work: (deadline: AbortSignal) => Promise<T>,
    timeoutMs = this.timeoutMs,
  ): Promise<T> {
    const url = this.client.settings.directoryUrl;
    const onTimeout = () => new AcmeUnreachable(`the CA did not finish within ${timeoutMs} ms`, { url });
    try {
      return await withinDeadline(signal, { timeoutMs, onTimeout }, work);
    } catch (error) {
      throw this.explained(error, hostname);
    }
  }

  /** An error of the CA as `CertificateOrderError`; any other error unchanged. */
  private explained(error: unknown, hostname: string | null): unknown {
    const identities = this.client.caaIdentities;
    const failure = orderFailure(error, { hostname, identities, nowMs: this.now() });
    return failure ? new CertificateOrderError(failure, { cause: error }) : error;
  }
}

/**
 * Whether the CA may have refused `replaces`. It answers `alreadyReplaced` after any failed order that named the certificate
 * (RFC 9773 §5). It may also not know the certificate, or know it from another account. Pebble answers `serverInternal` then.
 */
function mayBeAboutReplacing(error: unknown): boolean {
  return (
    error instanceof AcmeProblem && !/^(accountDoesNotExist|rateLimited|rejectedIdentifier)$/.test(error.type)
  );
}

function isRefusal(error: unknown): error is AcmeProblem {
  return error instanceof AcmeProblem && error.status < 500 && error.type !== 'rateLimited';
}
