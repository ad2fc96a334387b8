import { describedField, type ModelAction, type NounModel } from '../noun/definition/model.js';
import type { NounAction } from '../nouns.js';
import { plain, type Values } from './inputs.js';
import { type Invalid, invalidInputs } from './invalid-inputs.js';
import type { ActionFacts, NounFacts } from './noun-facts.js';

export interface TestedAction extends NounAction {
  /** Its mutation. */
  readonly operation: string;
  /** The type of its input in GraphQL, such as `DeliverShipmentInput!`; null = it has no input. */
  readonly inputType: string | null;
  readonly scope: `${string}:${string}`;
  readonly invalid: readonly Invalid[];
  /** A request that is accepted; null = it requires an input that the test file does not state. */
  readonly accepted: TestedCase | null;
  /** A request that is refused; null = the test file does not state one. */
  readonly refused: TestedCase | null;
}

interface TestedCase {
  readonly input: Values;
  readonly record: Values;
}

/** Throws an `Error` if a stated action does not exist. */
export function testedActions(
  { description, actions }: NounModel,
  stated: NounFacts['actions'] = {},
): TestedAction[] {
  const names = actions.map(({ name }) => name);
  const unknown = Object.keys(stated).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new Error(
      `The noun ${description.singular} has no action "${unknown}"; it has ${names.join(', ') || 'none'}.`,
    );
  return actions.map((action) => testedAction(action, description.plural, stated[action.name]));
}

function testedAction(action: ModelAction, plural: string, stated: ActionFacts | undefined): TestedAction {
  const { name, label, description, operation, inputType, fields } = action;
  const hasRequired = fields.some(({ isRequired }) => isRequired);
  const caseOf = ({ input = {}, record = {} }: ActionFacts) => ({
    input: plain(input),
    record: plain(record),
  });
  return {
    ...{ name, label, description, operation },
    fields: fields.map(describedField),
    inputType: fields.length === 0 ? null : `${inputType}${hasRequired ? '!' : ''}`,
    scope: `${plural}:${name}`,
    invalid: invalidInputs(action),
    accepted: hasRequired && !stated?.input ? null : caseOf(stated ?? {}),
    refused: stated?.refused ? caseOf(stated.refused) : null,
  };
}
