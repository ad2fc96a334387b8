import type { FindOptionsWhere } from 'typeorm';
import type { AcmeOrder } from './acme-order.entity.js';
import type { OrderFailureCode } from './order-failure.js';

export interface PlannedOrder {
  hostname: string;
  registrableDomain: string;
  projectId: bigint;
  /** The order names the certificate that it replaces. */
  isRenewal: boolean;
  /** The name has had a certificate. */
  isCertified: boolean;
}

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;
/** An order without outcome counts as issued for this long. After that, its process died and no other resumed it. */
export const IN_FLIGHT_MS = HOUR_MS;

export const ISSUED = 'issued';
/** Outcomes in which the CA's validation of the host or of its CAA records failed. */
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
  /** The counted things, for people. */
  what: string;
  most: number;
  /** The CA's own limit. `most` is lower, because the CA may count from another moment. */
  mostOfCa: number;
  windowMs: number;
  /** Orders that the CA does not refuse at this limit, so we do not either. */
  exempts(order: PlannedOrder): boolean;
  counts(order: PlannedOrder): FindOptionsWhere<AcmeOrder>;
  outcomes: readonly string[];
  /** Whether orders in flight count. */
  countsInFlight: boolean;
}

/** RFC 9773 §5. */
const named = ({ isRenewal }: PlannedOrder) => isRenewal;
/** Let's Encrypt: a name that has had a certificate is exempt, also when the order does not name the certificate. */
const certified = ({ isRenewal, isCertified }: PlannedOrder) => isRenewal || isCertified;

/** Our own limits, each below the CA's: an order that the CA refuses is useless and can cause longer refusals. */
export const ORDER_LIMITS: readonly Limit[] = [
  {
    what: 'failed validations of this name in an hour',
    most: 3,
    mostOfCa: 5,
    windowMs: HOUR_MS,
    exempts: () => false,
    counts: ({ hostname }) => ({ hostname }),
    outcomes: FAILED_VALIDATION,
    countsInFlight: false,
  },
  {
    what: 'certificates for this name in a week',
    most: 4,
    mostOfCa: 5,
    windowMs: WEEK_MS,
    exempts: named,
    counts: ({ hostname }) => ({ hostname, isRenewal: false }),
    outcomes: [ISSUED],
    countsInFlight: true,
  },
  {
    what: 'certificates for names of this registered domain in a week',
    most: 45,
    mostOfCa: 50,
    windowMs: WEEK_MS,
    exempts: certified,
    counts: ({ registrableDomain }) => ({ registrableDomain, isRenewal: false }),
    outcomes: [ISSUED],
    countsInFlight: true,
  },
  {
    what: 'orders of this project in three hours',
    most: 100,
    // The limit of the whole platform, so that a project leaves orders to the others.
    mostOfCa: 300,
    windowMs: 3 * HOUR_MS,
    // Failed renewals of 100 names count below, so they must not use up the platform's orders.
    exempts: named,
    counts: ({ projectId }) => ({ projectId, isRenewal: false }),
    outcomes: [ISSUED, ...FAILED_VALIDATION],
    countsInFlight: true,
  },
  {
    what: 'orders of the whole platform in three hours',
    most: 250,
    mostOfCa: 300,
    windowMs: 3 * HOUR_MS,
    exempts: certified,
    counts: () => ({ isRenewal: false }),
    // Without orders that the CA refused at the start.
    outcomes: [ISSUED, ...FAILED_VALIDATION],
    countsInFlight: true,
  },
];
