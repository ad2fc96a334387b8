import type { Caller } from '../../ground/kernel/caller.js';
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

/** Limits per UTC minute besides the plan's, with the messages of their refusals. */
const ALLOWANCES = {
  /** Operations of a key, in addition to requests for nouns. D-29. */
  management: {
    perMinute: 120,
    message: (limit: number, nouns: string) =>
      `An API key may do ${limit} operations a minute (UTC) on everything except ${nouns}. The plan's quota is not charged`,
  },
  /** Introspections of a project. D-37. */
  schema: {
    perMinute: 60,
    message: (limit: number) =>
      `The schema may be read ${limit} times a minute (UTC) by a project. Store it, or send If-None-Match`,
  },
  /** New documents that are parsed for a refused key. D-32. */
  documents: {
    perMinute: 120,
    message: (limit: number) =>
      `While a key is refused, the gateway reads ${limit} of its new documents a minute (UTC). Send documents with variables`,
  },
};

type AllowanceKind = keyof typeof ALLOWANCES;

export function allowanceOf(kind: AllowanceKind, { keyId }: Caller, cost: number): Allowance {
  const name = kind === 'schema' ? kind : `${kind}:${keyId}`;
  return { name, perMinute: ALLOWANCES[kind].perMinute, perDay: null, cost };
}

export function isManagement(allowance: string): boolean {
  return allowance.startsWith('management:');
}

/** `nouns` are those of the gateway in words. */
export function allowanceMessage({ name, limit }: { name: string; limit: number }, nouns: string): string {
  return ALLOWANCES[name.split(':')[0] as AllowanceKind].message(limit, nouns);
}
