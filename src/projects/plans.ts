/** Requests a plan allows per UTC minute and per UTC day. Enterprise quotas are agreed per project. Spec: Limits. */
export const PLANS = {
  FREE: { perMinute: 60, perDay: 1_000 },
  PRO: { perMinute: 300, perDay: 10_000 },
  BUSINESS: { perMinute: 1_000, perDay: 100_000 },
  ENTERPRISE: null,
} as const;

export type Plan = keyof typeof PLANS;
export const PLAN_NAMES = Object.keys(PLANS) as Plan[];
