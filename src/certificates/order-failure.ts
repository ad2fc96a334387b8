/** Why there is no certificate: everything of a domain's `Diagnosis` but its severity. */
export interface OrderFailure {
  code: OrderFailureCode;
  /** Who must act. */
  actor: 'OWNER' | 'DNS_PROVIDER' | 'PLATFORM' | 'CERTIFICATE_AUTHORITY' | 'NOBODY';
  /** One sentence: what is the case, with the CA's own words. */
  cause: string;
  /** One sentence: what to do. */
  remedy: string;
  /** Ordering earlier is of no use; null = any time after acting. */
  retryAtMs: number | null;
  evidence: OrderEvidence[];
}

export type OrderFailureCode =
  | 'CAA_BLOCKS_CA'
  | 'CAA_LOOKUP_FAILED'
  | 'CHALLENGE_UNREACHABLE'
  | 'CHALLENGE_WRONG_ANSWER'
  | 'DNS_NO_RECORD'
  | 'DNS_UNREACHABLE'
  | 'DNSSEC_BROKEN'
  | 'CA_RATE_LIMITED'
  | 'CA_PAUSED'
  | 'CA_REJECTED'
  | 'CA_DOWN';

/** What the CA said, or what we counted. */
export interface OrderEvidence {
  server: string;
  question: string;
  answer: string;
  ttlSeconds: number | null;
  atMs: number;
}

/** An order that ended without a certificate. */
export class CertificateOrderError extends Error {
  constructor(
    readonly failure: OrderFailure,
    options?: ErrorOptions,
  ) {
    super(`${failure.code}: ${failure.cause}`, options);
    this.name = 'CertificateOrderError';
  }
}
