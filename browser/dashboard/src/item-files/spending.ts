import { lasting } from '../elements/countdown.js';
import { SPARED } from '../files/paced.js';
import type { StandingFragment } from '../graphql/generated.js';
import { currentWindow } from '../quota/quota-window.js';

/** A long task, in the units of the plan. */
export interface Work {
  /** Rows to import, or items to export. */
  count: number;
  perUnit: number;
  unitsPerRequest: number;
}

export interface Spending {
  units: number;
  /** Units of today; null = the plan has no limit for a day. */
  left: number | null;
  /** Units that are left today for other clients. */
  leaves: number | null;
  /** Of what is left today, from 0 to 1. */
  share: number;
  /** UTC days; 1 = it fits into today. */
  days: number;
  /** How long it takes if it fits into today, in words. */
  duration: string;
}

/** The cost of the work now; null = the quota is not known yet. */
export function spendingOf(work: Work, known: StandingFragment | null, nowMs: number): Spending | null {
  if (!known) return null;
  const units = Math.max(1, Math.ceil(work.count / work.perUnit));
  const day = known.day && currentWindow(known.day, 86_400, nowMs);
  const left = day?.remaining ?? null;
  const requests = Math.floor((known.minute.limit * (1 - SPARED)) / work.unitsPerRequest);
  const minutes = Math.floor(units / Math.max(1, requests * work.unitsPerRequest));
  return {
    units,
    left,
    leaves: left === null ? null : Math.max(0, left - units),
    share: left === null ? 0 : left === 0 ? 1 : Math.min(1, units / left),
    days: day && units > day.remaining ? 1 + Math.ceil((units - day.remaining) / Math.max(1, day.limit)) : 1,
    duration: minutes === 0 ? 'less than a minute' : `about ${lasting(minutes * 60).replace(/ 0 s$/, '')}`,
  };
}

/** How much of the work fits into today; a tenth of what is left stays for other clients. */
export function fittingToday({ count, perUnit }: Work, { left }: Spending): number {
  return left === null ? count : Math.min(count, Math.floor(left * (1 - SPARED)) * perUnit);
}
