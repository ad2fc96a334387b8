import type { Context } from './context.js';
import type { OperationSize } from './operation-size.js';

/**
 * Charges an operation of an allowed size, before it is validated and before anything of it executes: one unit for each
 * root field, at least one. Reading the schema spends nothing of the plan and has a limit of its own. Returns nothing where no wait is
 * needed; throws, or rejects with, `AppError` 429.
 */
export function chargeOperation(
  { rootFields, isIntrospection }: Pick<OperationSize, 'rootFields' | 'isIntrospection'>,
  context: Context,
): Promise<void> | undefined {
  return isIntrospection ? context.chargeSchema() : context.charge(Math.max(1, rootFields));
}
