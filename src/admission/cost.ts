import type { Caller } from '../caller.js';
import type { Allowance } from '../rate-limit/windows.js';

/** What a request of a known caller spends. */
export interface Cost {
  /** Units of the plan: the reads and writes of pets, and what is refused before its kind is known. */
  readonly pets: number;
  /** Units of the key's own allowance: everything else. */
  readonly management: number;
  /** 1 = the request reads the schema and nothing else; then the other two are 0. */
  readonly schema: 0 | 1;
}

export const ONE_UNIT: Cost = Object.freeze({ pets: 1, management: 0, schema: 0 });
export const ONE_SCHEMA: Cost = Object.freeze({ pets: 0, management: 0, schema: 1 });

export type Payer = 'plan' | 'management' | 'schema';

/** From what a request is paid. A mixed operation is one of the plan. */
export function payerOf({ pets, schema }: Cost): Payer {
  if (pets > 0) return 'plan';
  return schema > 0 ? 'schema' : 'management';
}

/** What a key may do in a minute beside the requests for pets. */
const MANAGEMENT = 'management';
const MANAGEMENT_PER_MINUTE = 120;

/** Introspections of a project in a minute. */
const SCHEMA = 'schema';
const SCHEMA_PER_MINUTE = 60;

const SCHEMA_ALLOWANCE: Allowance = Object.freeze({ name: SCHEMA, perMinute: SCHEMA_PER_MINUTE, cost: 1 });

/** What is paid beside the plan; undefined = nothing. */
export function allowanceOf({ keyId }: Caller, { management, schema }: Cost): Allowance | undefined {
  if (schema > 0) return SCHEMA_ALLOWANCE;
  if (management === 0) return undefined;
  return { name: `${MANAGEMENT}:${keyId}`, perMinute: MANAGEMENT_PER_MINUTE, cost: management };
}

export function isManagement(allowance: string): boolean {
  return allowance.startsWith(`${MANAGEMENT}:`);
}

/** What a client is told of an allowance that refused it. */
export function inWords(allowance: string): { rule: string; advice: string } {
  if (allowance === SCHEMA) {
    return {
      rule: `The schema may be read ${SCHEMA_PER_MINUTE} times a minute (UTC) by a project`,
      advice: 'Keep it, or ask with If-None-Match',
    };
  }
  return {
    rule: `An API key has ${MANAGEMENT_PER_MINUTE} operations a minute (UTC) for everything but pets`,
    advice: 'The quota of the plan is untouched',
  };
}
