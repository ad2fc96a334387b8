import { withinDeadline } from '../kernel/deadline.js';
import type { AcmeClient } from './acme/acme-client.js';
import { AcmeUnreachable } from './acme/acme-problem.js';
import type { ChallengeStore } from './challenges/challenge-store.js';
import type { AcmeAccounts } from './orders/acme-accounts.js';
import type { CertificateOrders, OrderHooks, OrderRequest } from './orders/certificate-orders.js';
import { CertificateOrderError, explained, type OrderFailure } from './orders/order-failure.js';
import type { OrderLog } from './orders/order-log.js';
import { momentIn, type Random } from './orders/renewal.js';
import type { Certificate, NewCertificate } from './store/certificate.entity.js';

export { CertificateOrderError, type OrderFailure, type OrderHooks, type OrderRequest };

interface AuthorityParts {
  client: AcmeClient;
  accounts: AcmeAccounts;
  orders: CertificateOrders;
  challenges: ChallengeStore;
  log: OrderLog;
}

interface Surroundings {
  now: () => number;
  random: Random;
  /** The timeout of a whole order. */
  timeoutMs?: number;
}

interface About {
  /** Null = not about one host. */
  hostname: string | null;
  signal: AbortSignal;
  /** Default: that of an order. */
  timeoutMs?: number;
}

const ORDER_TIMEOUT_MS = 60_000;
/** A check waits for the advice, and other checks for its slot. */
const ADVICE_TIMEOUT_MS = 5_000;

/**
 * The certificate authority for domains. Its orders have a timeout, survive their process, and fail with a reason: every
 * failure of the CA is thrown as `CertificateOrderError`. An aborted signal throws its reason.
 */
export class CertificateAuthority {
  constructor(
    private readonly parts: AuthorityParts,
    private readonly surroundings: Surroundings,
  ) {}

  /** The account for orders, created if there is none. A CAA record may name it (RFC 8657). */
  account(signal: AbortSignal): Promise<{ accountUrl: string }> {
    return this.bounded({ hostname: null, signal }, async (deadline) => {
      const { accountUrl } = await this.parts.accounts.current(deadline);
      return { accountUrl };
    });
  }

  /** The CA's issuer names; a CAA record must allow one of them. Empty = neither the settings nor the CA name any. */
  caaIdentities(signal: AbortSignal): Promise<readonly string[]> {
    return this.bounded({ hostname: null, signal }, async (deadline) => {
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
    const { orders } = this.parts;
    return this.bounded({ hostname: request.hostname, signal }, async (deadline) => {
      const resumed = await orders.resume(request, deadline);
      return resumed ?? orders.place(request, { signal: deadline, onOrdered });
    });
  }

  /** A random time in the CA's renewal window; null = `plannedMs` stays. RFC 9773. */
  renewalTime(
    certificate: Pick<Certificate, 'renewalId' | 'notBeforeMs' | 'notAfterMs' | 'hostname'>,
    plannedMs: number | null,
    signal: AbortSignal,
  ): Promise<number | null> {
    const { renewalId, hostname } = certificate;
    return this.bounded({ hostname, signal, timeoutMs: ADVICE_TIMEOUT_MS }, async (deadline) => {
      const window = renewalId === null ? null : await this.parts.client.renewalWindow(renewalId, deadline);
      const { now, random } = this.surroundings;
      return window && momentIn(window, certificate, { plannedMs, nowMs: now(), random });
    });
  }

  /** Deletes some of the expired rows and returns how many. */
  async deleteExpiredRows(): Promise<number> {
    return (await this.parts.challenges.deleteExpired()) + (await this.parts.log.deleteOldOrders());
  }

  /** Closes idle connections to the CA. */
  close(): void {
    this.parts.client.close();
  }

  private async bounded<T>(about: About, work: (deadline: AbortSignal) => Promise<T>): Promise<T> {
    const { now, timeoutMs: orderTimeoutMs = ORDER_TIMEOUT_MS } = this.surroundings;
    const { hostname, signal, timeoutMs = orderTimeoutMs } = about;
    const { client } = this.parts;
    const url = client.settings.directoryUrl;
    const onTimeout = () => new AcmeUnreachable(`the CA did not finish within ${timeoutMs} ms`, { url });
    try {
      return await withinDeadline(signal, { timeoutMs, onTimeout }, work);
    } catch (error) {
      throw explained(error, { hostname, identities: client.caaIdentities, nowMs: now() });
    }
  }
}
