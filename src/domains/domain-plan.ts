import { AppError } from '../errors.js';
import type { Plan } from '../projects/plans.js';

/** Spec: Custom domains 1. */
export function allowsCustomDomains(plan: Plan): boolean {
  return plan !== 'FREE';
}

/** Throws `AppError plan_required`. */
export function requireCustomDomains({ plan }: { plan: Plan }): void {
  if (allowsCustomDomains(plan)) return;
  throw new AppError(
    'plan_required',
    'Custom domains need the plan PRO or above. Upgrade the project first.',
  );
}
