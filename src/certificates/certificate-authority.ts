import { withinDeadline } from '../kernel/deadline.js';
import type { AcmeClient } from './acme/acme-client.js';
import { AcmeUnreachable } from './acme/acme-problem.js';
import type { ChallengeStore } from './challenges/challenge-store.js';
import type { AcmeAccounts } from './orders/acme-accounts.js';
import type { CertificateOrders, OrderHooks, OrderRequest } from './orders/certificate-orders.js';
import { CertificateOrderError, type OrderFailure } from './orders/order-failure.js';
import type { OrderLog } from './orders/order-log.js';
import { explained } from './orders/order-problem.js';
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

const ORDER_TIMEOUT_MS = 60_000;

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
    return this.explained(null, async () => {
      const { accountUrl } = await this.parts.accounts.current(signal);
      return { accountUrl };
    });
  }

  /** The CA's issuer names; a CAA record must allow one of them. Empty = neither the settings nor the CA name any. */
  caaIdentities(signal: AbortSignal): Promise<readonly string[]> {
    return this.explained(null, async () => {
      const { client } = this.parts;
      if (client.settings.caaIdentities.length === 0) await client.directory(signal);
      return client.caaIdentities;
    });
  }

  /**
   * Orders a certificate, or resumes an order, and stores nothing of the certificate. Over our own budget it throws
   * without a request to the CA.
   */
  order(request: OrderRequest, { signal, onOrdered }: OrderHooks): Promise<NewCertificate> {
    const { client, orders } = this.parts;
    const { timeoutMs = ORDER_TIMEOUT_MS } = this.surroundings;
    const url = request.resume?.orderUrl ?? client.settings.directoryUrl;
    const onTimeout = () => new AcmeUnreachable(`the order did not end within ${timeoutMs} ms`, { url });
    return this.explained(request.hostname, () =>
      withinDeadline(signal, { timeoutMs, onTimeout }, async (deadline) => {
        const resumed = await orders.resume(request, deadline);
        const hooks = { signal: deadline, onOrdered };
        return resumed ?? orders.place(request, hooks);
      }),
    );
  }

  /** A random time in the CA's renewal window; null = `plannedMs` stays. RFC 9773. */
  renewalTime(
    certificate: Pick<Certificate, 'renewalId' | 'notBeforeMs' | 'notAfterMs' | 'hostname'>,
    plannedMs: number | null,
    signal: AbortSignal,
  ): Promise<number | null> {
    const { renewalId, hostname } = certificate;
    return this.explained(hostname, async () => {
      const window = renewalId === null ? null : await this.parts.client.renewalWindow(renewalId, signal);
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

  private async explained<T>(hostname: string | null, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const { now } = this.surroundings;
      throw explained(error, { hostname, identities: this.parts.client.caaIdentities, nowMs: now() });
    }
  }
}
