import type { Quota } from '../rate-limit/windows.js';

/** Requests a plan allows per UTC minute and per UTC day. Enterprise quotas are agreed per project. Spec: Limits. */
export const PLANS = {
  FREE: { perMinute: 60, perDay: 1_000 },
  PRO: { perMinute: 300, perDay: 10_000 },
  BUSINESS: { perMinute: 1_000, perDay: 100_000 },
  ENTERPRISE: null,
} as const;

/** The largest that both databases store. */
export const MAX_QUOTA = 2_147_483_647;

/** What a project may use: its plan's quota, or the one agreed with it. */
export function quotaOf({
  plan,
  perMinute,
  perDay,
}: {
  plan: Plan;
  perMinute: number | null;
  perDay: number | null;
}): Quota {
  // An Enterprise project always has its own; a hole in the data must not open the gates.
  return PLANS[plan] ?? { perMinute: perMinute ?? 0, perDay: perDay ?? 0 };
}

export type Plan = keyof typeof PLANS;
export const PLAN_NAMES = Object.keys(PLANS) as Plan[];
