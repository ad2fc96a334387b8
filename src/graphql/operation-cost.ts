import { type Cost, ONE_SCHEMA, ONE_UNIT } from '../admission/cost.js';

/** Fields that every schema has. */
const META_FIELDS: ReadonlySet<string> = new Set(['__schema', '__type', '__typename']);

/**
 * What an operation spends, at least one unit: one for each root field. The plan pays fields about pets and unknown ones,
 * the key's allowance pays management. `__schema`, `__type` and `__typename` go with the plan, or beside management alone
 * with the allowance. An operation of these three reads the schema, for which there is another allowance; a `__typename`
 * alone is a sign of life, which the plan pays.
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

/** What an operation spends that is refused for its size. */
export function unitOf({ pets, management }: Cost): Cost {
  return pets === 0 && management > 0 ? { ...ONE_UNIT, pets: 0, management: 1 } : ONE_UNIT;
}
