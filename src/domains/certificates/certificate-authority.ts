import { createPrivateKey, type KeyObject } from 'node:crypto';
import { withinDeadline } from '../../ground/kernel/deadline.js';
import type { AcmeClient, AcmeSigner } from './acme/acme-client.js';
import { AcmeProblem, AcmeUnreachable } from './acme/acme-problem.js';
import type { Order } from './acme/acme-resources.js';
import { generateKey, pemOf } from './acme/jws.js';
import type { AcmeAccounts } from './orders/acme-accounts.js';
import { CertificateOrderError, explained } from './orders/order-failure.js';
import type { OrderFlow } from './orders/order-flow.js';
import { ISSUED, type OrderLog, type PlannedOrder } from './orders/order-log.js';
import { momentIn, type Random, renewAtMs } from './orders/renewal.js';
import { readChain, UnusableCertificate } from './orders/x509.js';
import type { Certificate, NewCertificate } from './store/certificate.store.js';
import type { Challenges } from './store/challenges.js';
import { certificateKeyContext, type Sealer } from './store/sealer.js';

export interface OrderRequest {
  domainId: bigint;
  projectId: bigint;
  /** In lower case and ASCII. */
  hostname: string;
  /** The CA counts some rate limits by this name. */
  registrableDomain: string;
  /** The arguments of `onOrdered` for an unfinished order; null = none. */
  resume: { orderUrl: string; sealedKey: string } | null;
  /** The renewal id of the current certificate; null = none. */
  replaces: string | null;
  /** The name has had a certificate. */
  isCertified: boolean;
}

export interface OrderHooks {
  signal: AbortSignal;
  /** Stores the data that another process needs to resume the order. If it throws, the order ends. */
  onOrdered(orderUrl: string, sealedKey: string): Promise<void>;
}

interface AuthorityParts {
  client: AcmeClient;
  accounts: AcmeAccounts;
  flow: OrderFlow;
  log: OrderLog;
  challenges: Challenges;
  sealer: Sealer;
}

interface Surroundings {
  now: () => number;
  random: Random;
  /** The timeout of a whole order. */
  timeoutMs?: number;
}

interface FoundOrder {
  signer: AcmeSigner;
  order: Order;
}

interface KeyedOrder extends FoundOrder {
  key: KeyObject;
  sealedKey: string;
  /** Null = its row is gone. */
  logId: bigint | null;
}

const ORDER_TIMEOUT_MS = 60_000;
/** A check waits for the advice, and other checks for its slot. */
const ADVICE_TIMEOUT_MS = 5_000;

/**
 * The certificate authority for domains. Its orders have a timeout, survive their process, are counted against the CA's
 * limits, and fail with a reason: every failure of the CA is thrown as `CertificateOrderError`. An aborted signal throws
 * its reason.
 */
export class CertificateAuthority {
  constructor(
    private readonly parts: AuthorityParts,
    private readonly surroundings: Surroundings,
  ) {}

  /** The account for orders, created if there is none. A CAA record may name it (RFC 8657). */
  account(signal: AbortSignal): Promise<{ accountUrl: string }> {
    return this.bounded(null, signal, async (deadline) => {
      const { accountUrl } = await this.parts.accounts.current(deadline);
      return { accountUrl };
    });
  }

  /** The CA's issuer names; a CAA record must allow one of them. Empty = neither the settings nor the CA name any. */
  caaIdentities(signal: AbortSignal): Promise<readonly string[]> {
    return this.bounded(null, signal, async (deadline) => {
      const { client } = this.parts;
      if (client.settings.caaIdentities.length === 0) await client.directory(deadline);
      return client.caaIdentities;
    });
  }

  /**
   * Orders a certificate, or resumes an order, and stores nothing of the certificate. Over a limit it throws
   * without a request to the CA.
   */
  order(request: OrderRequest, { signal, onOrdered }: OrderHooks): Promise<NewCertificate> {
    return this.bounded(
      request.hostname,
      signal,
      async (deadline) =>
        (await this.resume(request, deadline)) ?? this.place(request, { signal: deadline, onOrdered }),
    );
  }

  /** A random time in the CA's renewal window; null = `plannedMs` stays. RFC 9773. */
  renewalTime(
    certificate: Pick<Certificate, 'renewalId' | 'notBeforeMs' | 'notAfterMs' | 'hostname'>,
    plannedMs: number | null,
    signal: AbortSignal,
  ): Promise<number | null> {
    const { renewalId, hostname } = certificate;
    const { now, random } = this.surroundings;
    const advice = async (deadline: AbortSignal) => {
      const window = renewalId === null ? null : await this.parts.client.renewalWindow(renewalId, deadline);
      return window && momentIn(window, certificate, { plannedMs, nowMs: now(), random });
    };
    return this.bounded(hostname, signal, advice, ADVICE_TIMEOUT_MS);
  }

  /** Deletes some of the expired rows and returns how many. */
  async deleteExpiredRows(): Promise<number> {
    return (await this.parts.challenges.deleteExpired()) + (await this.parts.log.deleteOldOrders());
  }

  /** Closes idle connections to the CA. */
  close(): void {
    this.parts.client.close();
  }

  /** The certificate of an unfinished order; null = the order can't be resumed. */
  private async resume(request: OrderRequest, signal: AbortSignal): Promise<NewCertificate | null> {
    const { resume, domainId, hostname } = request;
    const key = resume && this.opened(resume.sealedKey, hostname);
    if (!resume || !key) return null;
    const { log } = this.parts;
    const found = await this.findOrder(resume.orderUrl, signal);
    const logId = await log.unfinished(domainId, hostname);
    if (!found) {
      if (logId !== null) await log.logOutcome(logId, 'CA_DOWN');
      return null;
    }
    try {
      return await this.complete(request, { ...found, key, sealedKey: resume.sealedKey, logId }, signal);
    } catch (error) {
      // The order failed before this attempt, or it ended so long ago that its certificate has expired.
      const isOver =
        found.order.status === 'invalid' || (error as Error).cause instanceof UnusableCertificate;
      if (isOver && !signal.aborted) return null;
      throw error;
    }
  }

  /** The certificate of a new order. */
  private async place(request: OrderRequest, { signal, onOrdered }: OrderHooks): Promise<NewCertificate> {
    const { client, log, sealer } = this.parts;
    const { resume: _, replaces: wanted, ...ordered } = request;
    const { hostname } = request;
    const key = await generateKey();
    const sealedKey = sealer.seal(pemOf(key), certificateKeyContext(hostname));
    const { renewalInfo } = await client.directory(signal);
    const replaces = renewalInfo === null ? null : wanted;
    const planned = { ...ordered, isRenewal: replaces !== null };
    const logId = await log.logOrder(planned);
    const placed = await this.noted(logId, hostname, signal, () =>
      this.sendNewOrder(planned, { replaces, logId }, signal),
    );
    await onOrdered(placed.order.url, sealedKey);
    return this.complete(request, { ...placed, key, sealedKey, logId }, signal);
  }

  private sendNewOrder(
    planned: PlannedOrder,
    { replaces, logId }: { replaces: string | null; logId: bigint },
    signal: AbortSignal,
  ): Promise<FoundOrder> {
    const { client, accounts, log } = this.parts;
    const { hostname } = planned;
    return accounts.use(signal, async (signer) => {
      try {
        return { signer, order: await client.newOrder(signer, { hostname, replaces }, signal) };
      } catch (error) {
        if (replaces === null || !mayBeAboutReplacing(error)) throw error;
      }
      // A retry with `replaces` would fail until the certificate expires. Without it the order counts as a first order.
      await log.countFully(logId, planned);
      return { signer, order: await client.newOrder(signer, { hostname, replaces: null }, signal) };
    });
  }

  private complete(
    { domainId, hostname }: OrderRequest,
    { signer, order, key, sealedKey, logId }: KeyedOrder,
    signal: AbortSignal,
  ): Promise<NewCertificate> {
    const { flow, log, sealer } = this.parts;
    const { now, random } = this.surroundings;
    return this.noted(logId, hostname, signal, async () => {
      const chainPem = await flow.complete({ signer, order, hostname, key }, signal);
      const facts = readChain(chainPem, { hostname, key, nowMs: now() });
      if (logId !== null) await log.logOutcome(logId, ISSUED);
      const isOutdated = sealer.isOutdated(sealedKey);
      return {
        domainId,
        hostname,
        chainPem,
        sealedKey: isOutdated ? sealer.seal(pemOf(key), certificateKeyContext(hostname)) : sealedKey,
        ...facts,
        renewAtMs: renewAtMs(facts, random),
        createdAtMs: now(),
      };
    });
  }

  /** Null = the CA does not know the order, or it belongs to another account. */
  private async findOrder(orderUrl: string, signal: AbortSignal): Promise<FoundOrder | null> {
    const { client, accounts } = this.parts;
    try {
      return await accounts.use(signal, async (signer) => ({
        signer,
        order: await client.order(signer, orderUrl, signal),
      }));
    } catch (error) {
      if (isRefusal(error)) return null;
      throw error;
    }
  }

  /** Logs the outcome of a failed order. An aborted order stays in flight. */
  private async noted<T>(
    logId: bigint | null,
    hostname: string,
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      const error = this.explained(thrown, hostname);
      if (error instanceof CertificateOrderError && logId !== null)
        await this.parts.log.logOutcome(logId, error.failure.code);
      throw error;
    }
  }

  /** Null = its SECRET_KEY is not configured any more, so the key is lost. */
  private opened(sealedKey: string, hostname: string): KeyObject | null {
    try {
      return createPrivateKey(this.parts.sealer.open(sealedKey, certificateKeyContext(hostname)));
    } catch {
      return null;
    }
  }

  private async bounded<T>(
    /** Null = not about one host. */
    hostname: string | null,
    signal: AbortSignal,
    work: (deadline: AbortSignal) => Promise<T>,
    timeoutMs = this.surroundings.timeoutMs ?? ORDER_TIMEOUT_MS,
  ): Promise<T> {
    const url = this.parts.client.settings.directoryUrl;
    const onTimeout = () => new AcmeUnreachable(`the CA did not finish within ${timeoutMs} ms`, { url });
    try {
      return await withinDeadline(signal, { timeoutMs, onTimeout }, work);
    } catch (error) {
      throw this.explained(error, hostname);
    }
  }

  private explained(error: unknown, hostname: string | null): unknown {
    const identities = this.parts.client.caaIdentities;
    return explained(error, { hostname, identities, nowMs: this.surroundings.now() });
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
