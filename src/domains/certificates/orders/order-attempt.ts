import type { KeyObject } from 'node:crypto';
import type { AcmeClient, AcmeSigner } from '../acme/acme-client.js';
import { AcmeProblem, AcmeUnreachable } from '../acme/acme-problem.js';
import type { Order } from '../acme/acme-resources.js';
import type { OrderLog } from './order-log.js';
import { certificateRequest } from './x509.js';

const FIRST_POLL_MS = 100;
const SLOWEST_POLL_MS = 2_000;
/** The timeout of a whole order. A timer for weeks would overflow and fire at once. */
const LONGEST_WAIT_MS = 60_000;
const METHOD = 'http-01';

/** Resolves after `ms`, or rejects with the reason of the signal. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

export interface PlacedOrder {
  signer: AcmeSigner;
  order: Order;
  logId: bigint;
  hostname: string;
  /** The certificate's private key. */
  key: KeyObject;
}

/** Completes an order from any state to its certificate. RFC 8555 §7.1.6. */
export class OrderFlow {
  constructor(
    private readonly client: AcmeClient,
    private readonly log: OrderLog,
    private readonly wait: Wait,
  ) {}

  /** The chain as PEM, leaf first. Throws `AcmeProblem`, `AcmeUnreachable`, or the reason of the signal. */
  async complete(placed: PlacedOrder, signal: AbortSignal): Promise<string> {
    const { signer, hostname, key } = placed;
    let { order } = placed;
    let waitMs = FIRST_POLL_MS;
    let isAsked = false;
    let csr: Buffer | null = null;
    for (;;) {
      if (order.status === 'invalid') throw await this.reasonOf(signer, order, signal);
      if (order.status === 'valid' && order.certificate !== null) {
        return this.client.chain(signer, order.certificate, signal);
      }
      if (order.status === 'pending' && !isAsked) {
        isAsked = true;
        for (const url of order.authorizations) await this.answer(placed, url, signal);
        waitMs = FIRST_POLL_MS;
      } else if (order.status === 'ready') {
        // A CA can stay at `ready`: only the first time is followed by a short wait.
        if (csr === null) waitMs = FIRST_POLL_MS;
        csr ??= certificateRequest(hostname, key);
        order = await this.finalize(signer, order, csr, signal);
        if (order.status === 'valid') continue;
      }
      await this.wait(waitMs, signal);
      order = await this.client.order(signer, order.url, signal);
      waitMs = nextWaitMs(waitMs, order.retryAfterSeconds);
    }
  }

  private async finalize(signer: AcmeSigner, order: Order, csr: Buffer, signal: AbortSignal): Promise<Order> {
    try {
      return await this.client.finalize(signer, order, csr, signal);
    } catch (error) {
      // Another process finalized the order, or the CA's own view is stale: the next poll shows its state.
      if (error instanceof AcmeProblem && error.type === 'orderNotReady') return order;
      throw error;
    }
  }

  /** Starts the validation unless it is done. An order for one name has one authorization, and so one challenge. D-69. */
  private async answer(placed: PlacedOrder, url: string, signal: AbortSignal): Promise<void> {
    const { signer, hostname, logId } = placed;
    const authorization = await this.client.authorization(signer, url, signal);
    if (authorization.status !== 'pending') return;
    const challenge = authorization.challenges.find(({ type }) => type === METHOD);
    if (!challenge?.token) {
      throw new AcmeProblem(
        { type: 'unsupportedIdentifier', detail: `the CA offers no ${METHOD} challenge for ${hostname}` },
        { url, status: 200 },
      );
    }
    await this.log.logChallenge(logId, `${challenge.token}.${signer.key.thumbprint}`);
    if (challenge.status === 'pending') await this.client.respond(signer, challenge.url, signal);
  }

  /** The order says only that it failed; the challenge says why. */
  private async reasonOf(signer: AcmeSigner, order: Order, signal: AbortSignal): Promise<Error> {
    for (const url of order.authorizations) {
      const { challenges } = await this.client.authorization(signer, url, signal);
      const failed = challenges.find(({ error }) => error !== null);
      if (failed?.error) return failed.error;
    }
    return order.error ?? new AcmeUnreachable('the order became invalid without a reason', order);
  }
}

/** The CA's Retry-After, or twice the last wait. The deadline of the order bounds both. */
function nextWaitMs(lastWaitMs: number, retryAfterSeconds: number | null): number {
  if (retryAfterSeconds !== null && retryAfterSeconds > 0)
    return Math.min(retryAfterSeconds * 1_000, LONGEST_WAIT_MS);
  return Math.min(lastWaitMs * 2, SLOWEST_POLL_MS);
}
