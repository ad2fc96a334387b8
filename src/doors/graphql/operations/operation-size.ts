import {
  type DocumentNode,
  type FieldNode,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isIntrospectionType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql';
import { MAX_PAGE_SIZE } from '../../../ground/kernel/validation.js';
import { fragmentsOf, placeOf, readSelections } from './selections.js';
import { type EntryCount, entriesOf } from './type-options.js';

export interface RootField {
  readonly name: string;
  /** The entries of its argument `inputs`; null = it has no such argument. */
  readonly inputs: number | null;
}

const NONE = {
  depth: 0,
  aliases: 0,
  /** Characters of the longest alias: a response repeats it for each entry of a list. */
  aliasLength: 0,
  directives: 0,
  selections: 0,
  /** Fields that execution would resolve. Fields inside a list are multiplied by its usual number of entries. */
  cost: 0,
  /** The same with the maximum number of entries. */
  full: 0,
};

type Counts = typeof NONE;

/** The size of an operation. Fragments and aliases count wherever they are spread. */
export interface OperationSize extends Counts {
  rootFields: number;
  /** These root fields, aliases counted. */
  roots: readonly RootField[];
}

/** The value that a client sent for a variable; undefined = none. */
export type Variable = (name: string) => unknown;

/** A variable may be named `constructor`, which each object inherits. */
export function variablesIn(sent: Readonly<Record<string, unknown>>): Variable {
  return (name) => (Object.hasOwn(sent, name) ? sent[name] : undefined);
}

/** The variables as graphql will execute them: one that the client left out has its default. */
function withDefaults({ variableDefinitions = [] }: OperationDefinitionNode, sent: Variable): Variable {
  const defaults = new Map(
    variableDefinitions.map(({ variable, defaultValue }) => [variable.name.value, defaultValue]),
  );
  return (name) => {
    const value = sent(name);
    const byDefault = defaults.get(name);
    return value === undefined && byDefault ? valueFromASTUntyped(byDefault) : value;
  };
}

/**
 * Measures an operation without executing it. Each fragment is measured once: 25 fragments that spread each other twice
 * cost 25 steps, not 2^25. The document need not be valid: an unknown fragment, and a fragment within itself, count as
 * nothing.
 */
export function measureOperation(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  sent: Variable,
  lists: ListSizes,
): OperationSize {
  const variable = withDefaults(operation, sent);
  const fragments = fragmentsOf(document);
  const measured = new Map<string, Readonly<Counts>>();

  const ofFragment = (name: string): Readonly<Counts> => {
    const known = measured.get(name);
    if (known) return known;
    measured.set(name, NONE);
    const counts = ofPlace(fragments.get(name)?.selectionSet);
    measured.set(name, counts);
    return counts;
  };

  const ofField = (field: FieldNode): Counts => {
    const inner = ofPlace(field.selectionSet);
    const entries = entriesIn(field, lists, variable);
    return {
      ...inner,
      depth: inner.depth + 1,
      aliases: inner.aliases + (field.alias ? 1 : 0),
      aliasLength: Math.max(inner.aliasLength, field.alias?.value.length ?? 0),
      cost: 1 + inner.cost * entries.usual,
      full: 1 + inner.full * entries.most,
    };
  };

  const ofPlace = (selectionSet: SelectionSetNode | undefined): Readonly<Counts> => {
    if (!selectionSet) return NONE;
    const total = { ...NONE };
    readSelections(selectionSet, {
      enter: ({ directives = [] }) => {
        total.selections += 1;
        total.directives += directives.length;
        return true;
      },
      field: (field) => add(total, ofField(field)),
      spread: (name) => add(total, ofFragment(name)),
    });
    return total;
  };

  const counts = ofPlace(operation.selectionSet);
  const shown = shownFields([operation.selectionSet], fragments, variable);
  const roots = shown.map((field) => ({
    name: field.name.value,
    inputs: inputsOf(field, variable),
  }));
  return {
    ...counts,
    rootFields: roots.length,
    roots,
    directives: counts.directives + (operation.directives?.length ?? 0),
  };
}

function add(total: Counts, counts: Readonly<Counts>): void {
  total.depth = Math.max(total.depth, counts.depth);
  total.aliases += counts.aliases;
  total.aliasLength = Math.max(total.aliasLength, counts.aliasLength);
  total.directives += counts.directives;
  total.selections += counts.selections;
  total.cost += counts.cost;
  total.full += counts.full;
}

/** The names of all root fields, including those that a variable may leave out. */
export function rootFieldNames(document: DocumentNode, { selectionSet }: OperationDefinitionNode): string[] {
  const { fields } = placeOf([selectionSet], fragmentsOf(document));
  return [...fields.values()].flat().map(({ name }) => name.value);
}

/** The names of the fields that a resolver's result will show; `__typename` shows nothing. */
export function answeredFields({ fieldNodes, fragments, variableValues }: GraphQLResolveInfo): Set<string> {
  const selectionSets = fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const shown = shownFields(selectionSets, new Map(Object.entries(fragments)), variablesIn(variableValues));
  return new Set(shown.map(({ name }) => name.value).filter((name) => name !== '__typename'));
}

/** The fields of a place: a repeated field is resolved once, a skipped field not at all. */
function shownFields(
  selectionSets: readonly SelectionSetNode[],
  fragments: Parameters<typeof placeOf>[1],
  variable: Variable,
): FieldNode[] {
  const { fields } = placeOf(selectionSets, fragments, (selection) => !isLeftOut(selection, variable));
  return [...fields.values()].flatMap((nodes) => nodes.slice(-1));
}

/** Whether @skip or @include leaves the selection out. */
export function isLeftOut({ directives = [] }: SelectionNode, variable: Variable): boolean {
  return directives.some(({ name, arguments: given = [] }) => {
    const value = valueIn(given.find((argument) => argument.name.value === 'if')?.value, variable);
    return (name.value === 'skip' && value === true) || (name.value === 'include' && value === false);
  });
}

/** The value of a literal, or of a variable. */
function valueIn(node: ValueNode | undefined, variable: Variable): unknown {
  if (node?.kind === Kind.VARIABLE) return variable(node.name.value);
  return node && valueFromASTUntyped(node);
}

/** Maps a field's name to how often its content is resolved if the client gives no `first`. */
export type ListSizes = ReadonlyMap<string, Readonly<Record<EntryCount, number>>>;

/**
 * The sizes of pages, and the entries of lists without pages. For fields with the same name the largest counts, because a
 * document without validation shows no types.
 */
export function listSizesOf(schema: GraphQLSchema): ListSizes {
  const sizes = new Map<string, Record<EntryCount, number>>();
  for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) {
    if (isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const entries = entriesOf(field);
      if (!entries) continue;
      const { usual, most } = sizes.get(field.name) ?? entries;
      sizes.set(field.name, { usual: Math.max(entries.usual, usual), most: Math.max(entries.most, most) });
    }
  }
  return sizes;
}

const ONE = { usual: 1, most: 1 };

/** How often a field's content may be resolved. The service later refuses a value that is not a page size. */
function entriesIn(field: FieldNode, lists: ListSizes, variable: Variable): Record<EntryCount, number> {
  const byDefault = lists.get(field.name.value);
  if (byDefault === undefined) return ONE;
  const first = field.arguments?.find(({ name }) => name.value === 'first')?.value;
  if (!first) return byDefault;
  const value = valueIn(first, variable);
  const size = typeof value === 'number' && value >= 1 ? Math.min(value, MAX_PAGE_SIZE) : MAX_PAGE_SIZE;
  return { usual: size, most: size };
}

/** Counts the entries as graphql will coerce them: a value that is no list is a list of one. The document need not be valid. */
function inputsOf({ arguments: given = [] }: FieldNode, variable: Variable): number | null {
  const inputs = given.find(({ name }) => name.value === 'inputs');
  if (!inputs) return null;
  if (inputs.value.kind === Kind.LIST) return inputs.value.values.length;
  const sent = valueIn(inputs.value, variable);
  return Array.isArray(sent) ? sent.length : 1;
}
