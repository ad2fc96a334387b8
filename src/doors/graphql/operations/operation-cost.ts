import { type FieldNode, Kind, type OperationDefinitionNode, type ValueNode } from 'graphql';
import { AppError, invalidRequest } from '../../../ground/kernel/errors.js';
import type { Quota } from '../../../ground/kernel/quota.js';
import { type Cost, ONE_SCHEMA, ONE_UNIT } from '../../../request/admission/cost.js';
import { META_FIELDS } from './root-field-kinds.js';

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

/** How many things one field may create. */
export const MAX_INPUTS = 100;
/** D-178. */
const INPUTS_PER_UNIT = 10;

/** A field at the root of an operation. */
export interface RootField {
  readonly name: string;
  /** The entries of its argument `inputs`; null = it has no such argument. */
  readonly inputs: number | null;
}

/** The units of a root field: one, or with the argument `inputs` one for every ten entries begun. */
function unitsOf({ inputs }: RootField): number {
  return inputs === null ? 1 : Math.max(1, Math.ceil(inputs / INPUTS_PER_UNIT));
}

/** The reason to refuse an operation before it is executed; null = each list of inputs has an allowed length. */
export function inputsProblem(roots: readonly RootField[]): AppError | null {
  const wrong = roots.find(({ inputs }) => inputs !== null && (inputs < 1 || inputs > MAX_INPUTS));
  if (!wrong) return null;
  const message = `must have 1 to ${MAX_INPUTS} entries, not ${wrong.inputs}`;
  return invalidRequest([{ field: 'inputs', message }]);
}

/** Counts the entries as graphql will coerce them: a value that is no list is a list of one. The document need not be valid. */
export function inputsOf(
  { arguments: given = [] }: FieldNode,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Record<string, unknown>,
): number | null {
  const countOf = (value: ValueNode): number => {
    if (value.kind === Kind.LIST) return value.values.length;
    if (value.kind !== Kind.VARIABLE) return 1;
    const name = value.name.value;
    // A variable may be named `constructor`, which each object inherits.
    if (Object.hasOwn(variables, name)) {
      const sent = variables[name];
      return Array.isArray(sent) ? sent.length : 1;
    }
    const byDefault = variableDefinitions.find(({ variable }) => variable.name.value === name)?.defaultValue;
    return byDefault ? countOf(byDefault) : 1;
  };
  const inputs = given.find(({ name }) => name.value === 'inputs');
  return inputs ? countOf(inputs.value) : null;
}
