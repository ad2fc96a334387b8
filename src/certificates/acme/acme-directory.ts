import { AcmeUnreachable } from './acme-problem.js';
import { type AcmeTransport, jsonOf } from './acme-transport.js';

/** The directory of a CA. RFC 8555 §7.1.1, RFC 9773 §4. */
export interface AcmeDirectory {
  newNonce: string;
  newAccount: string;
  newOrder: string;
  /** Null = the CA gives no renewal advice. */
  renewalInfo: string | null;
  /** Issuer names for CAA records. */
  caaIdentities: string[];
  /** The CA's clock, from the Date header; null = no valid header. */
  dateMs: number | null;
}

const KEPT_MS = 3_600_000;
const MAX_IDENTITIES = 100;

/** Caches the CA's directory for an hour. It is read on first use, and again after a failure. */
export class DirectoryCache {
  newest: AcmeDirectory | null = null;
  private readAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly transport: AcmeTransport,
    private readonly url: string,
    private readonly now: () => number,
  ) {}

  /** Throws `AcmeProblem`, `AcmeUnreachable`, or the reason of the signal. */
  async get(signal: AbortSignal): Promise<AcmeDirectory> {
    if (this.newest && this.now() - this.readAtMs < KEPT_MS) return this.newest;
    const { url } = this;
    const response = await this.transport.call({ method: 'GET', url, body: null, signal, isRead: true });
    const dateMs = Date.parse(response.headers.date ?? '');
    this.newest = { ...read(jsonOf(response), url), dateMs: Number.isNaN(dateMs) ? null : dateMs };
    this.readAtMs = this.now();
    return this.newest;
  }

  /** Marks the directory as stale, because its URLs may have changed. */
  forget(): void {
    this.readAtMs = Number.NEGATIVE_INFINITY;
  }
}

function read(document: Record<string, unknown>, url: string): Omit<AcmeDirectory, 'dateMs'> {
  const { newNonce, newAccount, newOrder, renewalInfo, meta } = document;
  if (typeof newNonce !== 'string' || typeof newAccount !== 'string' || typeof newOrder !== 'string') {
    throw new AcmeUnreachable('the answer is not an ACME directory', { url });
  }
  const identities = (meta as { caaIdentities?: unknown } | undefined)?.caaIdentities;
  return {
    newNonce,
    newAccount,
    newOrder,
    renewalInfo: typeof renewalInfo === 'string' ? renewalInfo : null,
    caaIdentities: Array.isArray(identities)
      ? identities
          .slice(0, MAX_IDENTITIES)
          .filter((name) => typeof name === 'string')
          .map((name) => name.toLowerCase())
      : [],
  };
}
