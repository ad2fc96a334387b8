import { AppError } from '../../kernel/errors.js';
import { allowsCustomDomains, type Plan } from '../../projects/plans.js';

/** Throws `AppError plan_required`. Spec: Custom domains 1. */
export function requireCustomDomains({ plan }: { plan: Plan }): void {
  if (allowsCustomDomains(plan)) return;
  throw new AppError(
    'plan_required',
    'Custom domains need the plan PRO or above. Upgrade the project first.',
  );
}
