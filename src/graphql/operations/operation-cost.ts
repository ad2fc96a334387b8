import { type Cost, ONE_SCHEMA, ONE_UNIT } from '../../admission/cost.js';
import { META_FIELDS } from '../documents/root-fields.js';

/**
 * The cost of an operation: one unit per root field, at least one. The plan pays for fields about pets and for unknown
 * fields; the key's allowance pays for management. The plan also pays for `__schema`, `__type` and `__typename`, unless
 * all other fields are management: then the allowance pays. An operation of only these three reads the schema, which has
 * a separate allowance; `__typename` alone is a liveness check, which the plan pays.
 *
 * @param rootFields names, aliases counted
 * @param management the names of the root fields that are not about pets
 */
export function costOf(rootFields: readonly string[], management: ReadonlySet<string>): Cost {
  const meta = rootFields.filter((name) => META_FIELDS.has(name));
  if (meta.length === rootFields.length && meta.some((name) => name !== '__typename')) return ONE_SCHEMA;
  const managing = rootFields.filter((name) => management.has(name)).length;
  const others = rootFields.length - managing;
  if (managing > 0 && others === meta.length) return { pets: 0, management: rootFields.length, schema: 0 };
  return { pets: Math.max(1, others), management: managing, schema: 0 };
}

/** The cost of an operation that is refused for its size. */
export function unitOf({ pets, management }: Cost): Cost {
  return pets === 0 && management > 0 ? { ...ONE_UNIT, pets: 0, management: 1 } : ONE_UNIT;
}
