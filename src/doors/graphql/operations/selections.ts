import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValidationRule,
  type VariableDefinitionNode,
} from 'graphql';
import { AppError } from '../../../ground/kernel/errors.js';

/** A document's fragments by name. If two have the same name, which validation refuses, the last one counts. */
export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

export function fragmentsOf({ definitions }: DocumentNode): Fragments {
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
}

interface SelectionReader {
  /** Called first, for each selection; false = it is left out, with everything inside it. */
  enter(selection: SelectionNode): boolean;
  field(field: FieldNode): void;
  /** The fragment is not read, unless the reader does it. */
  spread(fragmentName: string): void;
}

/** Reads the selections of one place, those of inline fragments included. */
export function readSelections({ selections }: SelectionSetNode, reader: SelectionReader): void {
  for (const selection of selections) {
    if (!reader.enter(selection)) continue;
    if (selection.kind === Kind.FIELD) reader.field(selection);
    else if (selection.kind === Kind.INLINE_FRAGMENT) readSelections(selection.selectionSet, reader);
    else reader.spread(selection.name.value);
  }
}

/** Merges the selections of one place of the response: each fragment is read once, so cyclic fragments end. */
export function placeOf(
  selectionSets: readonly SelectionSetNode[],
  fragments: Fragments,
  enter: SelectionReader['enter'] = () => true,
) {
  /** By name in the response. */
  const fields = new Map<string, FieldNode[]>();
  const spread = new Set<string>();
  const reader: SelectionReader = {
    enter,
    field: (field) => {
      const name = field.alias?.value ?? field.name.value;
      const nodes = fields.get(name);
      if (nodes) nodes.push(field);
      else fields.set(name, [field]);
    },
    spread: (name) => {
      if (spread.has(name)) return;
      spread.add(name);
      const fragment = fragments.get(name);
      if (fragment) readSelections(fragment.selectionSet, reader);
    },
  };
  for (const selectionSet of selectionSets) readSelections(selectionSet, reader);
  return { fields, spread };
}

const MAX_DEFINITIONS = 100;
const MAX_STEPS = 5_000;
/** Deeper operations are refused by their size, and endless fragments by validation. */
const MAX_DEPTH = 16;

/**
 * The reason to refuse a document before validation; null = validation takes only milliseconds. All operations and
 * fragments count, even those that are not executed. The document need not be valid. D-14.
 */
export function documentProblem(document: DocumentNode): AppError | null {
  const { length } = document.definitions;
  const reason =
    length > MAX_DEFINITIONS
      ? `The document has ${length} operations and fragments; at most ${MAX_DEFINITIONS} are allowed.`
      : comparisonsOf(document) > MAX_STEPS
        ? 'The document repeats too many fields of the same name, or fragments, in the same place.'
        : null;
  return reason === null ? null : new AppError('invalid_request', `${reason} Split it.`);
}

/**
 * Counts the pairs that graphql's rule OverlappingFieldsCanBeMerged compares: fields with one response name in one place,
 * and fragments spread in one place. Takes one step per selection, and stops above the limit.
 */
function comparisonsOf(document: DocumentNode): number {
  const fragments = fragmentsOf(document);
  let steps = 0;
  const isWithinLimit = () => {
    steps += 1;
    return steps <= MAX_STEPS;
  };
  const count = (merged: readonly SelectionSetNode[], depth = 0): void => {
    if (depth > MAX_DEPTH || steps > MAX_STEPS) return;
    const { fields, spread } = placeOf(merged, fragments, isWithinLimit);
    steps += pairs(spread.size);
    for (const group of fields.values()) steps += pairs(group.length);
    for (const group of fields.values()) {
      count(
        group.flatMap(({ selectionSet }) => selectionSet ?? []),
        depth + 1,
      );
    }
  };
  for (const definition of document.definitions) {
    if ('selectionSet' in definition && definition.selectionSet) count([definition.selectionSet]);
  }
  return steps;
}

const pairs = (count: number) => (count * (count - 1)) / 2;

/** A variable that may be null by its own type, and the type of the place where null is not allowed. */
interface Place {
  readonly definition: VariableDefinitionNode;
  readonly type: string;
}

const isNullByDefault = ({ defaultValue }: VariableDefinitionNode) => defaultValue?.kind === Kind.NULL;

function givenValue(
  definition: VariableDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): unknown {
  const value = variables[definition.variable.name.value];
  return value === undefined && isNullByDefault(definition) ? null : value;
}

/**
 * Finds null where an operation does not allow it. A variable with a default may stand in such a place, and graphql notices
 * null only when it executes the place: mutations have run then. D-244.
 */
export class NullVariables {
  private readonly places = new WeakMap<OperationDefinitionNode, readonly Place[]>();

  /** Finds the places of each operation, from what graphql's own rule about variables collects. */
  readonly rule: ValidationRule = (context) => ({
    OperationDefinition: {
      leave: (operation) => {
        const { variableDefinitions = [] } = operation;
        const nullable = variableDefinitions.filter(({ type }) => type.kind !== Kind.NON_NULL_TYPE);
        if (nullable.length === 0) return;
        const usages = context.getRecursiveVariableUsages(operation);
        const places = nullable.flatMap((definition) => {
          const { value } = definition.variable.name;
          const type = usages.find(
            (usage) => usage.node.name.value === value && isNonNullType(usage.type),
          )?.type;
          return type ? { definition, type: String(type) } : [];
        });
        if (places.length > 0) this.places.set(operation, places);
      },
    },
  });

  /** The problems, at most `most`, of the values that a client sent for a valid operation. */
  problemsOf(
    operation: OperationDefinitionNode | null | undefined,
    variables: Readonly<Record<string, unknown>>,
    most: number,
  ): GraphQLError[] {
    const places = (operation && this.places.get(operation)) ?? [];
    return places
      .filter(({ definition }) => givenValue(definition, variables) === null)
      .slice(0, most)
      .map(({ definition, type }) => {
        const { value } = definition.variable.name;
        const advice = isNullByDefault(definition)
          ? 'State another value.'
          : 'Leave it out, and its default counts.';
        const message = `Variable "$${value}" must not be null: it is used where the type is "${type}". ${advice}`;
        return new GraphQLError(message, { nodes: [definition] });
      });
  }
}
