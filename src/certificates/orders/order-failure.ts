/** The reason why there is no certificate: a domain's `Diagnosis` without its severity. */
export interface OrderFailure {
  code: OrderFailureCode;
  /** The party that must act. */
  actor: 'OWNER' | 'DNS_PROVIDER' | 'PLATFORM' | 'CERTIFICATE_AUTHORITY' | 'NOBODY';
  /** The problem, in one sentence, with the CA's own words. */
  cause: string;
  /** The fix, in one sentence. */
  remedy: string;
  /** An earlier order can't succeed; null = any time after the fix. */
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

/** An answer of the CA, or a count of the order budget. */
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
