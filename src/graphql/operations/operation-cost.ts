import { type Cost, ONE_SCHEMA, ONE_UNIT } from '../../admission/cost.js';
import { AppError } from '../../kernel/errors.js';
import type { Quota } from '../../kernel/quota.js';
import { META_FIELDS } from '../documents/root-fields.js';
import { type RootField, unitsOf } from './root-inputs.js';

/**
 * The cost of an operation: the units of each root field, at least one. The plan pays for fields about pets and for unknown
 * fields; the key's allowance pays for management. The plan also pays for `__schema`, `__type` and `__typename`, unless
 * all other fields are management: then the allowance pays. An operation of only these three reads the schema, which has
 * a separate allowance; `__typename` alone is a liveness check, which the plan pays.
 *
 * @param roots aliases counted
 * @param management the names of the root fields that are not about pets
 */
export function costOf(roots: readonly RootField[], management: ReadonlySet<string>): Cost {
  const meta = roots.filter(({ name }) => META_FIELDS.has(name));
  if (meta.length === roots.length && meta.some(({ name }) => name !== '__typename')) return ONE_SCHEMA;
  const others = roots.filter(({ name }) => !management.has(name));
  const managing = roots.length - others.length;
  if (managing > 0 && others.length === meta.length) return { pets: 0, management: roots.length, schema: 0 };
  const units = others.reduce((sum, root) => sum + unitsOf(root), 0);
  return { pets: Math.max(1, units), management: managing, schema: 0 };
}

/** The cost of an operation that is refused for its size. */
export function unitOf({ pets, management }: Cost): Cost {
  return pets === 0 && management > 0 ? { ...ONE_UNIT, pets: 0, management: 1 } : ONE_UNIT;
}

/** The reason to refuse an operation that the plan can never pay, so that no Retry-After would be true; null = it can. */
export function costProblem({ pets }: Cost, { perMinute, perDay }: Quota): AppError | null {
  const most = Math.min(perMinute, perDay ?? perMinute);
  if (pets <= most || pets === 1) return null;
  const message = `The operation costs ${pets} units; the quota has ${most}, however long you wait. Split it.`;
  return new AppError('invalid_request', message);
}
