import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { AcmeClient, AcmeSigner } from '../acme/acme-client.js';
import { AcmeProblem, AcmeUnreachable } from '../acme/acme-problem.js';
import type { Order } from '../acme/acme-resources.js';
import { generateKey, pemOf } from '../acme/jws.js';
import type { NewCertificate } from '../store/certificate.store.js';
import { certificateKeyContext, type Sealer } from '../store/sealer.js';
import { orderFailure } from './order-failure.js';
import { ISSUED, type OrderLog, type PlannedOrder } from './order-log.js';
import { type Random, renewAtMs } from './renewal.js';
import { certificateRequest, readChain, UnusableCertificate } from './x509.js';

export type OrderRequest = Omit<PlannedOrder, 'isRenewal' | 'sealedKey'> & {
  /** The renewal id of the current certificate; null = none. */
  replaces: string | null;
};

export interface OrderParts {
  client: AcmeClient;
  log: OrderLog;
  sealer: Sealer;
  now: () => number;
  random: Random;
  /** Resolves after `ms`, or rejects with the reason of the signal. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

interface PlacedOrder {
  logId: bigint;
  order: Order;
  /** The certificate's private key. */
  key: KeyObject;
  sealedKey: string;
}

const FIRST_POLL_MS = 100;
const SLOWEST_POLL_MS = 2_000;
/** The timeout of a whole order. A timer for weeks would overflow and fire at once. */
const LONGEST_WAIT_MS = 60_000;

/** An attempt to get a certificate for a domain, with one account. */
export class OrderAttempt {
  constructor(
    private readonly parts: OrderParts,
    private readonly request: OrderRequest,
    private readonly signer: AcmeSigner,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * Completes the domain's unfinished order, or places one and then calls `onOrdered`. Throws `AcmeProblem`,
   * `UnusableCertificate`, what `OrderLog` or `onOrdered` throws, or the reason of the signal.
   */
  async issue(onOrdered: () => Promise<void>): Promise<NewCertificate> {
    const unfinished = await this.findOrder();
    try {
      if (unfinished) return await this.complete(unfinished);
    } catch (error) {
      // The order failed before this attempt, or it ended so long ago that its certificate has expired.
      const isOver = unfinished?.order.status === 'invalid' || error instanceof UnusableCertificate;
      if (!isOver || this.signal.aborted) throw error;
    }
    const placed = await this.place(this.request.replaces);
    await onOrdered();
    return this.complete(placed);
  }

  /** The unfinished order; null = there is none, its key is lost, or the CA does not know it for this account. */
  private async findOrder(): Promise<PlacedOrder | null> {
    const { client, log } = this.parts;
    const { domainId, hostname } = this.request;
    const { id: logId, url, sealedKey } = (await log.newestOrder(domainId, hostname)) ?? {};
    const key = sealedKey && this.opened(sealedKey);
    if (!logId || !url || !key) return null;
    try {
      return { logId, order: await client.order(this.signer, url, this.signal), key, sealedKey };
    } catch (error) {
      const isRefusal =
        error instanceof AcmeProblem && error.context.status < 500 && error.type !== 'rateLimited';
      if (!isRefusal) throw error;
    }
    await log.logOutcome(logId, 'CA_DOWN');
    return null;
  }

  private async place(wanted: string | null): Promise<PlacedOrder> {
    const { client, log } = this.parts;
    const { replaces: _, ...ordered } = this.request;
    const { hostname } = ordered;
    const key = await generateKey();
    const sealedKey = this.sealed(key);
    const isReplacing = wanted !== null && (await client.directory(this.signal)).renewalInfo !== null;
    const replaces = isReplacing ? wanted : null;
    const logId = await log.logOrder({ ...ordered, isRenewal: isReplacing, sealedKey });
    try {
      const order = await this.noted(logId, () =>
        client.newOrder(this.signer, { hostname, replaces }, this.signal),
      );
      await log.logUrl(logId, order.url);
      return { logId, order, key, sealedKey };
    } catch (error) {
      if (replaces === null || !mayBeAboutReplacing(error)) throw error;
    }
    // With `replaces` each retry would fail until the certificate expires. Without it the order counts as a first order.
    return this.place(null);
  }

  private complete(placed: PlacedOrder): Promise<NewCertificate> {
    const { log, sealer, now, random } = this.parts;
    const { domainId, hostname } = this.request;
    const { logId, key, sealedKey } = placed;
    return this.noted(logId, async () => {
      const chainPem = await this.chain(placed);
      const facts = readChain(chainPem, { hostname, key, nowMs: now() });
      await log.logOutcome(logId, ISSUED);
      return {
        domainId,
        hostname,
        chainPem,
        // Once all certificates are renewed, no row may be sealed with an earlier key.
        sealedKey: sealer.isOutdated(sealedKey) ? this.sealed(key) : sealedKey,
        ...facts,
        renewAtMs: renewAtMs(facts, random),
        createdAtMs: now(),
      };
    });
  }

  /** The chain as PEM, leaf first, of an order in any state. RFC 8555 §7.1.6. */
  private async chain(placed: PlacedOrder): Promise<string> {
    const { signer, signal } = this;
    const { client, wait } = this.parts;
    let { order } = placed;
    let waitMs = FIRST_POLL_MS;
    let isAsked = false;
    let csr: Buffer | null = null;
    for (;;) {
      if (order.status === 'invalid') throw await this.reasonOf(order);
      if (order.status === 'valid' && order.certificate !== null) {
        return client.chain(signer, order.certificate, signal);
      }
      if (order.status === 'pending' && !isAsked) {
        isAsked = true;
        for (const url of order.authorizations) await this.answer(placed, url);
        waitMs = FIRST_POLL_MS;
      } else if (order.status === 'ready') {
        // A CA can stay at `ready`: only the first time is followed by a short wait.
        if (csr === null) waitMs = FIRST_POLL_MS;
        csr ??= certificateRequest(this.request.hostname, placed.key);
        order = await this.finalize(order, csr);
        if (order.status === 'valid') continue;
      }
      await wait(waitMs, signal);
      order = await client.order(signer, order.url, signal);
      waitMs = nextWaitMs(waitMs, order.retryAfterSeconds);
    }
  }

  private async finalize(order: Order, csr: Buffer): Promise<Order> {
    try {
      return await this.parts.client.finalize(this.signer, order, csr, this.signal);
    } catch (error) {
      // Another process finalized the order, or the CA's own view is stale: the next poll shows its state.
      if (error instanceof AcmeProblem && error.type === 'orderNotReady') return order;
      throw error;
    }
  }

  /** Starts the validation unless it is done. An order for one name has one authorization, and so one challenge. */
  private async answer({ logId }: PlacedOrder, url: string): Promise<void> {
    const { signer, signal } = this;
    const { client, log } = this.parts;
    const { status, challenge } = await client.authorization(signer, url, signal);
    if (status !== 'pending') return;
    if (!challenge) {
      const detail = `the CA offers no http-01 challenge for ${this.request.hostname}`;
      throw new AcmeProblem({ type: 'unsupportedIdentifier', detail }, { url, status: 200 });
    }
    await log.logChallenge(logId, `${challenge.token}.${signer.key.thumbprint}`);
    if (challenge.status === 'pending') await client.respond(signer, challenge.url, signal);
  }

  /** The order says only that it failed; the challenge says why. */
  private async reasonOf(order: Order): Promise<Error> {
    for (const url of order.authorizations) {
      const { challenge } = await this.parts.client.authorization(this.signer, url, this.signal);
      if (challenge?.error) return challenge.error;
    }
    return order.error ?? new AcmeUnreachable('the order became invalid without a reason', order);
  }

  /** Logs the outcome of a failed order. An aborted order stays in flight. */
  private async noted<T>(logId: bigint, work: () => Promise<T>): Promise<T> {
    const { client, log, now } = this.parts;
    const { hostname } = this.request;
    try {
      return await work();
    } catch (error) {
      const failure = orderFailure(error, { hostname, identities: client.caaIdentities, nowMs: now() });
      if (failure && !this.signal.aborted) await log.logOutcome(logId, failure.code);
      throw error;
    }
  }

  private sealed(key: KeyObject): string {
    return this.parts.sealer.seal(pemOf(key), certificateKeyContext(this.request.hostname));
  }

  /** Null = its SECRET_KEY is not configured any more, so the key is lost. */
  private opened(sealedKey: string): KeyObject | null {
    try {
      return createPrivateKey(
        this.parts.sealer.open(sealedKey, certificateKeyContext(this.request.hostname)),
      );
    } catch {
      return null;
    }
  }
}

/**
 * Whether the CA may have refused `replaces`. It answers `alreadyReplaced` after any failed order that named the certificate
 * (RFC 9773 §5). It may also not know the certificate, or know it from another account. Pebble answers `serverInternal` then.
 */
function mayBeAboutReplacing(error: unknown): boolean {
  const others = /^(accountDoesNotExist|rateLimited|rejectedIdentifier|unreachable)$/;
  return error instanceof AcmeProblem && !others.test(error.type);
}

/** The CA's Retry-After, or twice the last wait. The deadline of the order bounds both. */
function nextWaitMs(lastWaitMs: number, retryAfterSeconds: number | null): number {
  if (retryAfterSeconds !== null && retryAfterSeconds > 0)
    return Math.min(retryAfterSeconds * 1_000, LONGEST_WAIT_MS);
  return Math.min(lastWaitMs * 2, SLOWEST_POLL_MS);
}
