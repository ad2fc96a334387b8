import type { AuditDetail } from './audit-event.entity.js';

/** A detail of an act; a value that is not set is null. */
export interface DetailPair {
  name: string;
  value: string | null;
}

const TIME = /Ms$/;

/** The details of an act in their stored order. A time `endsAtMs` becomes `endsAt`, in ISO 8601. */
export function detailPairs(detail: AuditDetail): DetailPair[] {
  return Object.entries(detail).map(([name, value]) => {
    const isTime = TIME.test(name);
    if (value === null) return { name: name.replace(TIME, ''), value };
    if (isTime && typeof value === 'number') return { name: name.replace(TIME, ''), value: isoTime(value) };
    return { name, value: String(value) };
  });
}

/** Text also for a time that a date cannot hold. */
function isoTime(atMs: number): string {
  const at = new Date(atMs);
  return Number.isNaN(at.getTime()) ? String(atMs) : at.toISOString();
}
