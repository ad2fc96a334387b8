import type { Quota } from '../../ground/kernel/caller.js';

/** Requests that a plan allows per UTC minute and per UTC day. Enterprise quotas are agreed per project. Spec: Limits. */
export const PLANS = {
  FREE: { perMinute: 60, perDay: 1_000 },
  PRO: { perMinute: 300, perDay: 10_000 },
  BUSINESS: { perMinute: 1_000, perDay: 100_000 },
  ENTERPRISE: null,
} as const;

/** Streams that a project may have open at the same time, unless another number was agreed. */
export const OPEN_STREAMS = { FREE: 2, PRO: 20, BUSINESS: 100, ENTERPRISE: 1_000 } as const;

/** Spec: Custom domains 1. */
export function allowsCustomDomains(plan: Plan): boolean {
  return plan !== 'FREE';
}

/** The largest quota that both databases can store. */
export const MAX_QUOTA = 2_147_483_647;

/** A plan, and the quota that was agreed for an Enterprise project. */
export interface AgreedPlan {
  plan: Plan;
  perMinute: number | null;
  perDay: number | null;
}

/** A project's quota: the plan's, or the agreed one. */
export function quotaOf({ plan, perMinute, perDay }: AgreedPlan): Quota {
  // An Enterprise project always has its own quota. Missing data must not mean unlimited requests.
  return PLANS[plan] ?? { perMinute: perMinute ?? 0, perDay: perDay ?? 0 };
}

export type Plan = keyof typeof PLANS;
export const PLAN_NAMES = Object.keys(PLANS) as Plan[];
