import type { Caller } from '../../ground/kernel/caller.js';
import { NOUN_WORDS } from '../../nouns.js';
import type { Allowance } from '../rate-limit/rules/windows.js';

export interface Cost {
  /** Units of the plan: for reads and writes of nouns, and for requests refused before their kind is known. */
  readonly plan: number;
  /** Units of the key's own allowance: for everything else. */
  readonly management: number;
  /** 1 = the request only reads the schema; then the other two are 0. */
  readonly schema: 0 | 1;
}

export const ONE_UNIT: Cost = Object.freeze({ plan: 1, management: 0, schema: 0 });
export const ONE_SCHEMA: Cost = Object.freeze({ plan: 0, management: 0, schema: 1 });

export type Payer = 'plan' | 'management' | 'schema';

/** Operations a key may do per minute, in addition to requests for nouns. D-29. */
const MANAGEMENT = 'management';
const MANAGEMENT_PER_MINUTE = 120;

/** Introspections that a project may do per minute. D-37. */
const SCHEMA = 'schema';
const SCHEMA_PER_MINUTE = 60;

const SCHEMA_ALLOWANCE: Allowance = { name: SCHEMA, perMinute: SCHEMA_PER_MINUTE, perDay: null, cost: 1 };

/** The allowance to charge in addition to the plan, for a cost that is not only the plan's. */
export function allowanceOf({ keyId }: Caller, { management, schema }: Cost): Allowance {
  if (schema > 0) return SCHEMA_ALLOWANCE;
  return { name: `${MANAGEMENT}:${keyId}`, perMinute: MANAGEMENT_PER_MINUTE, perDay: null, cost: management };
}

/** New documents that are parsed for a refused key per minute. D-32. */
const DOCUMENTS = 'documents';
const DOCUMENTS_PER_MINUTE = 120;

export function documentAllowance({ keyId }: Caller): Allowance {
  return { name: `${DOCUMENTS}:${keyId}`, perMinute: DOCUMENTS_PER_MINUTE, perDay: null, cost: 1 };
}

export function isManagement(allowance: string): boolean {
  return allowance.startsWith(`${MANAGEMENT}:`);
}

/** The message for a client that an allowance refused. */
export function allowanceRule(allowance: string): { rule: string; advice: string } {
  if (allowance === SCHEMA) {
    return {
      rule: `The schema may be read ${SCHEMA_PER_MINUTE} times a minute (UTC) by a project`,
      advice: 'Store it, or send If-None-Match',
    };
  }
  if (allowance.startsWith(DOCUMENTS)) {
    return {
      rule: `While a key is refused, the gateway reads ${DOCUMENTS_PER_MINUTE} of its new documents a minute (UTC)`,
      advice: 'Send documents with variables',
    };
  }
  return {
    rule: `An API key may do ${MANAGEMENT_PER_MINUTE} operations a minute (UTC) on everything except ${NOUN_WORDS}`,
    advice: "The plan's quota is not charged",
  };
}
