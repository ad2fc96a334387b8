import type { AcmeAccounts } from './acme-accounts.js';
import type { AcmeClient, AcmeSigner } from './acme-client.js';
import { AcmeProblem } from './acme-problem.js';
import type { Order } from './acme-resources.js';
import type { NewCertificate } from './certificate.entity.js';
import { readChain, UnusableCertificate } from './issued-chain.js';
import { generateKeyPem } from './jws.js';
import type { OrderBudget } from './order-budget.js';
import { CertificateOrderError } from './order-failure.js';
import type { OrderFlow } from './order-flow.js';
import { ISSUED, type PlannedOrder } from './order-limits.js';
import type { OrderLog } from './order-log.js';
import { explained } from './order-problem.js';
import { type Random, renewAtMs } from './renewal.js';
import { certificateKeyContext, type Sealer } from './sealer.js';

export interface OrderRequest {
  domainId: bigint;
  projectId: bigint;
  /** In lower case and ASCII. */
  hostname: string;
  /** What the CA counts its limits by. */
  registrableDomain: string;
  /** What `onOrdered` was given for an order that nobody brought to an end. */
  resume: { orderUrl: string; sealedKey: string } | null;
  /** The renewal id of the certificate in force. */
  replaces: string | null;
}

export interface OrderHooks {
  signal: AbortSignal;
  /** Keeps what another process needs to go on with the order. What it throws ends the order. */
  onOrdered(orderUrl: string, sealedKey: string): Promise<void>;
}

interface Parts {
  client: AcmeClient;
  accounts: AcmeAccounts;
  sealer: Sealer;
  budget: OrderBudget;
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
  keyPem: string;
  sealedKey: string;
  /** Null = its row is gone. */
  logId: bigint | null;
}

/** Places orders and goes on with those that were left. Each is noted, and counted against the budget. */
export class CertificateOrders {
  constructor(private readonly parts: Parts) {}

  /** The certificate of an order that was left; null = it is of no use any more. */
  async resume(request: OrderRequest, signal: AbortSignal): Promise<NewCertificate | null> {
    const { resume, domainId, hostname } = request;
    const keyPem = resume && this.opened(resume.sealedKey, hostname);
    if (!resume || keyPem === null) return null;
    const { log } = this.parts;
    const found = await this.find(resume.orderUrl, signal);
    const logId = await log.unfinished(domainId, hostname);
    if (!found) {
      if (logId !== null) await log.end(logId, 'CA_DOWN');
      return null;
    }
    const keyed = { ...found, keyPem, sealedKey: resume.sealedKey, logId };
    try {
      return await this.complete(request, keyed, signal);
    } catch (error) {
      // It failed before this attempt began, or it ended so long ago that its certificate has run out.
      const isOver =
        found.order.status === 'invalid' || (error as Error).cause instanceof UnusableCertificate;
      if (isOver && !signal.aborted) return null;
      throw error;
    }
  }

  /** The certificate of a new order. */
  async place(request: OrderRequest, { signal, onOrdered }: OrderHooks): Promise<NewCertificate> {
    const { client, budget, log, sealer } = this.parts;
    const { hostname, registrableDomain, domainId, projectId } = request;
    const keyPem = await generateKeyPem();
    const sealedKey = sealer.seal(keyPem, certificateKeyContext(hostname));
    const { renewalInfo } = await client.directory(signal);
    const replaces = renewalInfo === null ? null : request.replaces;
    const planned = { hostname, registrableDomain, projectId, isRenewal: replaces !== null };
    const logId = await budget.spend(planned, (manager) => log.begin(domainId, planned, manager));
    const placed = await this.noted(logId, { hostname, signal }, () =>
      this.send(planned, { replaces, logId }, signal),
    );
    await onOrdered(placed.order.url, sealedKey);
    return this.complete(request, { ...placed, keyPem, sealedKey, logId }, signal);
  }

  private send(
    planned: PlannedOrder,
    { replaces, logId }: { replaces: string | null; logId: bigint },
    signal: AbortSignal,
  ): Promise<FoundOrder> {
    const { client, accounts, budget, log } = this.parts;
    const { hostname } = planned;
    return accounts.use(signal, async (signer) => {
      try {
        return { signer, order: await client.newOrder(signer, { hostname, replaces }, signal) };
      } catch (error) {
        if (replaces === null || !mayBeAboutReplacing(error)) throw error;
      }
      // Insisting would let the certificate run out. Without the name the order counts like a first one.
      await budget.spend({ ...planned, isRenewal: false }, (manager) => log.countFully(logId, manager));
      return { signer, order: await client.newOrder(signer, { hostname, replaces: null }, signal) };
    });
  }

  private complete(
    { domainId, hostname }: OrderRequest,
    { signer, order, keyPem, sealedKey, logId }: KeyedOrder,
    signal: AbortSignal,
  ): Promise<NewCertificate> {
    const { flow, log, sealer, now, random } = this.parts;
    return this.noted(logId, { hostname, signal }, async () => {
      const chainPem = await flow.complete({ signer, order, hostname, keyPem }, signal);
      const facts = await readChain(chainPem, { hostname, keyPem, nowMs: now() });
      if (logId !== null) await log.end(logId, ISSUED);
      const isOutdated = sealer.isOutdated(sealedKey);
      return {
        domainId,
        hostname,
        chainPem,
        sealedKey: isOutdated ? sealer.seal(keyPem, certificateKeyContext(hostname)) : sealedKey,
        ...facts,
        renewAtMs: renewAtMs(facts, random),
        createdAtMs: now(),
      };
    });
  }

  /** Null = the CA no longer knows the order, or it was another account's. */
  private async find(orderUrl: string, signal: AbortSignal): Promise<FoundOrder | null> {
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

  /** Notes how an order failed. One that was only left stays in flight. */
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
      if (error instanceof CertificateOrderError && logId !== null) await log.end(logId, error.failure.code);
      throw error;
    }
  }

  /** Null = its SECRET_KEY is gone, so the key is lost. */
  private opened(sealedKey: string, hostname: string): string | null {
    try {
      return this.parts.sealer.open(sealedKey, certificateKeyContext(hostname));
    } catch {
      return null;
    }
  }
}

/**
 * `alreadyReplaced` is what any order that named the certificate and then failed leads to (RFC 9773 §5). A CA may also know
 * no such certificate, or that of another account.
 */
function mayBeAboutReplacing(error: unknown): boolean {
  return isRefusal(error) && !/^(accountDoesNotExist|rejectedIdentifier)$/.test(error.type);
}

function isRefusal(error: unknown): error is AcmeProblem {
  return error instanceof AcmeProblem && error.status < 500 && error.type !== 'rateLimited';
}
