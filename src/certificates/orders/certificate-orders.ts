import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { AcmeClient, AcmeSigner } from '../acme/acme-client.js';
import { AcmeProblem } from '../acme/acme-problem.js';
import type { Order } from '../acme/acme-resources.js';
import { generateKey, pemOf } from '../acme/jws.js';
import type { NewCertificate } from '../store/certificate.entity.js';
import { certificateKeyContext, type Sealer } from '../store/sealer.js';
import type { AcmeAccounts } from './acme-accounts.js';
import { CertificateOrderError, explained } from './order-failure.js';
import type { OrderFlow } from './order-flow.js';
import { ISSUED, type OrderLog, type PlannedOrder } from './order-log.js';
import { type Random, renewAtMs } from './renewal.js';
import { readChain, UnusableCertificate } from './x509.js';

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

interface Parts {
  client: AcmeClient;
  accounts: AcmeAccounts;
  sealer: Sealer;
  log: OrderLog;
  flow: OrderFlow;
  now: () => number;
  random: Random;
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

/** Places orders and resumes unfinished ones. Each order is logged and counted against the budget. */
export class CertificateOrders {
  constructor(private readonly parts: Parts) {}

  /** The certificate of an unfinished order; null = the order can't be resumed. */
  async resume(request: OrderRequest, signal: AbortSignal): Promise<NewCertificate | null> {
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
    const keyed = { ...found, key, sealedKey: resume.sealedKey, logId };
    try {
      return await this.complete(request, keyed, signal);
    } catch (error) {
      // The order failed before this attempt, or it ended so long ago that its certificate has expired.
      const isOver =
        found.order.status === 'invalid' || (error as Error).cause instanceof UnusableCertificate;
      if (isOver && !signal.aborted) return null;
      throw error;
    }
  }

  /** The certificate of a new order. */
  async place(request: OrderRequest, { signal, onOrdered }: OrderHooks): Promise<NewCertificate> {
    const { client, log, sealer } = this.parts;
    const { hostname, registrableDomain, domainId, projectId, isCertified } = request;
    const key = await generateKey();
    const sealedKey = sealer.seal(pemOf(key), certificateKeyContext(hostname));
    const { renewalInfo } = await client.directory(signal);
    const replaces = renewalInfo === null ? null : request.replaces;
    const isRenewal = replaces !== null;
    const planned = { domainId, projectId, hostname, registrableDomain, isRenewal, isCertified };
    const logId = await log.logOrder(planned);
    const placed = await this.noted(logId, { hostname, signal }, () =>
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
    const { flow, log, sealer, now, random } = this.parts;
    return this.noted(logId, { hostname, signal }, async () => {
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
    { hostname, signal }: { hostname: string; signal: AbortSignal },
    work: () => Promise<T>,
  ): Promise<T> {
    const { client, log, now } = this.parts;
    try {
      return await work();
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      const error = explained(thrown, { hostname, identities: client.caaIdentities, nowMs: now() });
      if (error instanceof CertificateOrderError && logId !== null)
        await log.logOutcome(logId, error.failure.code);
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
