import { type FieldNode, Kind, type OperationDefinitionNode, type ValueNode } from 'graphql';
import { type AppError, invalidRequest } from '../../kernel/errors.js';

/** How many things one field may create. */
export const MAX_INPUTS = 100;
const INPUTS_PER_UNIT = 10;

/** A field at the root of an operation. */
export interface RootField {
  readonly name: string;
  /** The entries of its argument `inputs`; null = it has no such argument. */
  readonly inputs: number | null;
}

/** The units of a root field: one, or with the argument `inputs` one for every ten entries begun. */
export function unitsOf({ inputs }: RootField): number {
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
