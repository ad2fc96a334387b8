import type { FindOptionsWhere } from 'typeorm';
import type { AcmeOrder } from './acme-order.entity.js';
import type { OrderFailureCode } from './order-failure.js';

export interface PlannedOrder {
  hostname: string;
  registrableDomain: string;
  projectId: bigint;
  /** It names the certificate it replaces. */
  isRenewal: boolean;
}

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;
/** An order without outcome counts as one that will be issued. After this long its process died, and nobody took it up. */
export const IN_FLIGHT_MS = HOUR_MS;

export const ISSUED = 'issued';
/** The CA looked at the host, or at its CAA records, and did not like what it saw. */
const FAILED_VALIDATION: OrderFailureCode[] = [
  'CAA_BLOCKS_CA',
  'CAA_LOOKUP_FAILED',
  'CHALLENGE_UNREACHABLE',
  'CHALLENGE_WRONG_ANSWER',
  'DNS_NO_RECORD',
  'DNS_UNREACHABLE',
  'DNSSEC_BROKEN',
];

export interface Limit {
  /** What is counted, for people. */
  what: string;
  most: number;
  /** Of the CA, which may count from another moment than we do: there is some room. */
  mostOfCa: number;
  windowMs: number;
  /** The CA does not count renewals that name what they replace, so we neither count nor refuse them. RFC 9773 §5. */
  exemptsRenewals: boolean;
  counts(order: PlannedOrder): FindOptionsWhere<AcmeOrder>;
  outcomes: readonly string[];
  /** Whether orders in flight count. */
  countsInFlight: boolean;
}

/** Our own limits, each below the CA's: one that the CA refuses helps nobody and may lead to longer refusals. */
export const ORDER_LIMITS: readonly Limit[] = [
  {
    what: 'failed validations of this name in an hour',
    most: 3,
    mostOfCa: 5,
    windowMs: HOUR_MS,
    exemptsRenewals: false,
    counts: ({ hostname }) => ({ hostname }),
    outcomes: FAILED_VALIDATION,
    countsInFlight: false,
  },
  {
    what: 'certificates for this name in a week',
    most: 4,
    mostOfCa: 5,
    windowMs: WEEK_MS,
    exemptsRenewals: true,
    counts: ({ hostname }) => ({ hostname, isRenewal: 0 }),
    outcomes: [ISSUED],
    countsInFlight: true,
  },
  {
    what: 'certificates for names of this registered domain in a week',
    most: 45,
    mostOfCa: 50,
    windowMs: WEEK_MS,
    exemptsRenewals: true,
    counts: ({ registrableDomain }) => ({ registrableDomain, isRenewal: 0 }),
    outcomes: [ISSUED],
    countsInFlight: true,
  },
  {
    what: 'orders of this project in three hours',
    most: 100,
    // Of the whole platform: one project must leave something to the others.
    mostOfCa: 300,
    windowMs: 3 * HOUR_MS,
    exemptsRenewals: true,
    counts: ({ projectId }) => ({ projectId, isRenewal: 0 }),
    outcomes: [ISSUED, ...FAILED_VALIDATION],
    countsInFlight: true,
  },
  {
    what: 'orders of the whole platform in three hours',
    most: 250,
    mostOfCa: 300,
    windowMs: 3 * HOUR_MS,
    exemptsRenewals: true,
    counts: () => ({ isRenewal: 0 }),
    // Without the orders that the CA refused to begin.
    outcomes: [ISSUED, ...FAILED_VALIDATION],
    countsInFlight: true,
  },
];
