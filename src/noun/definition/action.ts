import { AppError, type FieldProblem, invalidRequest } from '../../ground/kernel/errors.js';
import { capitalized } from '../../noun-words.js';
import type { Fields, ValuesOf } from '../kinds/kind.js';
import { describedField, inWords, type ModelAction, modelField, NAME, type NounModel } from './model.js';

interface ActionOptions<Row, Values, Input extends Fields> {
  /** The values that a client states, by the kinds of fields; absent = the action takes no input. */
  readonly input?: Input;
  /** A sentence for both APIs and for the dashboard, such as `Hands a shipment over.` */
  readonly description?: string;
  /** For people, such as the text of a button; by default the name in words. */
  readonly label?: string;
  /**
   * Returns the fields to change, or calls `refuse`. It may change immutable fields too. It runs within the transaction of
   * the write, and the record is locked meanwhile. It must be synchronous and without effects outside: after a conflict the
   * database runs the transaction again. `now` has the form of `dateTime` fields.
   */
  readonly run: (
    record: Readonly<Row>,
    input: ValuesOf<Input>,
    at: { readonly now: string },
    // biome-ignore lint/suspicious/noConfusingVoidType: an action without a return changes nothing.
  ) => Partial<Values> | void;
}

/** An action of a definition, as `action` returns it. */
export type DefinedAction = ActionOptions<never, unknown, Fields>;

/** Types the functions of actions by the fields of the noun and of the input. */
export type ActionMaker<Row, Values> = <const Input extends Fields = Record<never, never>>(
  options: ActionOptions<Row, Values, Input>,
) => DefinedAction;

/**
 * For functions of a definition: refuses the act, and nothing is changed. A text is what the client reads, with the code
 * `conflict`; problems of fields are an `invalid_request`.
 */
export function refuse(reason: string | FieldProblem[]): never {
  throw typeof reason === 'string' ? new AppError('conflict', reason) : invalidRequest(reason);
}

/** The model with its actions. Throws an `Error` that names the action and what cannot work. */
export function withActions(
  model: NounModel,
  define: (action: ActionMaker<never, never>) => Readonly<Record<string, DefinedAction>>,
): NounModel {
  const make = (options: object) => options as DefinedAction;
  const actions = Object.entries(define(make)).map(([name, action]) => modelAction(model, name, action));
  const names = actions.map(({ name }) => name.toLowerCase());
  const repeated = names.find((name, at) => names.indexOf(name) < at);
  if (repeated !== undefined) refuseDefinition(model, `two actions have the name ${repeated}.`);
  if (actions.length === 0) return model;
  const described = actions.map(({ name, label, description, fields }) => ({
    name,
    label,
    description,
    fields: fields.map(describedField),
  }));
  return { ...model, actions, description: { ...model.description, actions: described } };
}

/** They would repeat a scope, a mutation or a type of the noun. */
const TAKEN = ['read', 'write', 'create', 'update', 'delete', 'restore', 'new', 'changes'];

const OPTIONS: readonly string[] = ['input', 'description', 'label', 'run'] satisfies (keyof DefinedAction)[];

function modelAction(model: NounModel, name: string, action: DefinedAction): ModelAction {
  const { type, withArticle, plural } = model.description;
  const refuse = (problem: string) => refuseDefinition(model, `the action ${name} ${problem}.`);
  if (!NAME.test(name))
    refuse('is no name. Begin with a small letter, and use at most 40 letters and digits');
  // Inherited names, such as valueOf, are in every object.
  if (TAKEN.includes(name) || name in {}) refuse(`has a name that the platform uses for ${plural}`);
  if (model.fields.some(({ options }) => options.readScope === name))
    refuse('has the scope of a field. Rename it, or the readScope');
  const unknown = Object.keys(action).find((option) => !OPTIONS.includes(option));
  if (unknown !== undefined) refuse(`has no option ${unknown}, only ${OPTIONS.join(', ')}`);
  if (typeof action.run !== 'function') refuse('needs a function run');
  if (action.run.constructor.name === 'AsyncFunction')
    refuse('has an async function. It runs within a transaction, so it must return the changes at once');
  const label = action.label ?? inWords(name);
  const fields = Object.entries(action.input ?? {}).map(([field, each]) => {
    if (!each?.kind) refuse(`has the input ${field}, which is no kind of field, such as text({ max: 255 })`);
    const { unique, immutable, sort, writeOnly, readScope } = each.options;
    const stated = { unique, immutable, sort, writeOnly, readScope, filter: each.filter };
    const wrong = Object.entries(stated).find(([, option]) => option)?.[0] ?? null;
    if (wrong !== null)
      refuse(`has the input ${field} with the option ${wrong}, which only a field of the noun has`);
    if (each.kind.reference)
      refuse(`has the input ${field}, a reference. Only a field can be one: use int64`);
    const taken = model.fields.some(
      (own) => own.kind.choices && sameType(own.name, name + capitalized(field)),
    );
    if (each.kind.choices && taken)
      refuse(`has the input ${field}, whose type a field has. Choose another name`);
    const { description, hint = description } = each.options;
    const made = modelField(
      name,
      field,
      { ...each, options: { ...each.options, ...(hint && { hint }) } },
      refuse,
    );
    return { ...made, description: description ?? `${made.label}.` };
  });
  return {
    name,
    label,
    operation: `${name}${type}`,
    inputType: `${capitalized(name)}${type}Input`,
    description: action.description ?? `${label} ${withArticle}.`,
    fields,
    run: action.run as ModelAction['run'],
  };
}

const sameType = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

export function refuseDefinition({ description }: NounModel, problem: string): never {
  throw new Error(`The noun ${description.singular}: ${problem}`);
}
