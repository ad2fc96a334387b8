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
} from 'graphql';
import { MAX_PAGE_SIZE } from '../../kernel/validation.js';
import { type Fragments, fragmentsOf } from '../documents/fragments.js';
import { type EntryCount, entriesOf } from './entries.js';
import { responseName } from './places.js';
import { inputsOf, type RootField } from './root-inputs.js';

/** The size of an operation. Fragments and aliases count wherever they are spread. */
export interface OperationSize {
  /** Fields resolved at the root. */
  rootFields: number;
  depth: number;
  aliases: number;
  /** Characters of the longest alias: a response repeats it for each entry of a list. */
  aliasLength: number;
  directives: number;
  /** Selections of every kind. */
  selections: number;
  /** Fields that execution would resolve. Fields inside a list are multiplied by its maximum number of entries. */
  cost: number;
  /** These root fields, aliases counted. */
  roots: readonly RootField[];
}

type Counts = Omit<OperationSize, 'rootFields' | 'roots'>;

const NOTHING: Counts = { depth: 0, aliases: 0, aliasLength: 0, directives: 0, selections: 0, cost: 0 };

/**
 * Measures an operation without executing it. Each fragment is measured once: 25 fragments that spread each other twice
 * cost 25 steps, not 2^25. The document need not be valid: an unknown fragment, and a fragment within itself, count as
 * nothing.
 */
export function measureOperation(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Record<string, unknown>,
  pages: PageSizes,
): OperationSize {
  const fragments = fragmentsOf(document);
  const measured = new Map<string, Counts>();

  const ofFragment = (name: string): Counts => {
    const known = measured.get(name);
    if (known) return known;
    measured.set(name, NOTHING);
    const fragment = fragments.get(name);
    const counts = fragment ? ofSelections(fragment.selectionSet) : NOTHING;
    measured.set(name, counts);
    return counts;
  };

  const ofField = (field: FieldNode): Counts => {
    const inner = field.selectionSet ? ofSelections(field.selectionSet) : NOTHING;
    return {
      depth: inner.depth + 1,
      aliases: inner.aliases + (field.alias ? 1 : 0),
      aliasLength: Math.max(inner.aliasLength, field.alias?.value.length ?? 0),
      directives: inner.directives,
      selections: inner.selections,
      cost: 1 + inner.cost * pageSizeOf(field, variables, pages),
    };
  };

  const ofSelections = ({ selections }: SelectionSetNode): Counts =>
    selections.reduce<Counts>((total, selection) => {
      const counts =
        selection.kind === Kind.FIELD
          ? ofField(selection)
          : selection.kind === Kind.INLINE_FRAGMENT
            ? ofSelections(selection.selectionSet)
            : ofFragment(selection.name.value);
      return {
        depth: Math.max(total.depth, counts.depth),
        aliases: total.aliases + counts.aliases,
        aliasLength: Math.max(total.aliasLength, counts.aliasLength),
        directives: total.directives + counts.directives + (selection.directives?.length ?? 0),
        selections: total.selections + counts.selections + 1,
        cost: total.cost + counts.cost,
      };
    }, NOTHING);

  const { directives, ...counts } = ofSelections(operation.selectionSet);
  const roots = [...fieldsOf(operation.selectionSet, fragments, variables).values()].map((field) => ({
    name: field.name.value,
    inputs: inputsOf(field, operation, variables),
  }));
  return {
    ...counts,
    rootFields: roots.length,
    roots,
    directives: directives + (operation.directives?.length ?? 0),
  };
}

/** The names of all root fields, including those that a variable may leave out. */
export function rootFieldNames(document: DocumentNode, { selectionSet }: OperationDefinitionNode): string[] {
  const names = new Set<string>();
  const fragments = fragmentsOf(document);
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) names.add(selection.name.value);
      else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet);
      else {
        const fragment = fragments.get(selection.name.value);
        fragments.delete(selection.name.value);
        if (fragment) collect(fragment.selectionSet);
      }
    }
  };
  collect(selectionSet);
  return [...names];
}

/** The fields of a selection by response name: a repeated field is resolved once, a skipped field not at all. */
function fieldsOf(
  root: SelectionSetNode,
  fragments: Fragments,
  variables: Record<string, unknown>,
): Map<string, FieldNode> {
  const fields = new Map<string, FieldNode>();
  const spread = new Set<string>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (isLeftOut(selection, variables)) continue;
      if (selection.kind === Kind.FIELD) fields.set(responseName(selection), selection);
      else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet);
      else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = fragments.get(selection.name.value);
        if (fragment) collect(fragment.selectionSet);
      }
    }
  };
  collect(root);
  return fields;
}

/** The names of the fields that a resolver's result will show; `__typename` shows nothing. */
export function answeredFields({ fieldNodes, fragments, variableValues }: GraphQLResolveInfo): Set<string> {
  const known = new Map(Object.entries(fragments));
  const fields = fieldNodes.flatMap(({ selectionSet }) =>
    selectionSet ? [...fieldsOf(selectionSet, known, variableValues).values()] : [],
  );
  return new Set(fields.map(({ name }) => name.value).filter((name) => name !== '__typename'));
}

function isLeftOut({ directives = [] }: SelectionNode, variables: Record<string, unknown>): boolean {
  return directives.some(({ name, arguments: given = [] }) => {
    const condition = given.find((argument) => argument.name.value === 'if')?.value;
    const value =
      condition?.kind === Kind.VARIABLE
        ? variables[condition.name.value]
        : condition?.kind === Kind.BOOLEAN && condition.value;
    return (name.value === 'skip' && value === true) || (name.value === 'include' && value === false);
  });
}

/** The size for all variables; null when it depends on them. */
export function constantSize(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  pages: PageSizes,
): OperationSize | null {
  const asked: unknown[] = [];
  const variables = new Proxy({}, { get: (_, name) => void asked.push(name) });
  const size = measureOperation(document, operation, variables, pages);
  return asked.length === 0 ? size : null;
}

/** Maps a field's name to how often its content is resolved if the client gives no `first`. */
export type PageSizes = ReadonlyMap<string, number>;

/**
 * The sizes of pages, and the entries of lists without pages. For fields with the same name the largest counts, because a
 * document without validation shows no types.
 */
export function pageSizesOf(schema: GraphQLSchema, count: EntryCount = 'usual'): PageSizes {
  const sizes = new Map<string, number>();
  for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) {
    if (isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const entries = entriesOf(field, MAX_PAGE_SIZE, count);
      if (entries !== null) sizes.set(field.name, Math.max(entries, sizes.get(field.name) ?? 0));
    }
  }
  return sizes;
}

/** How often a field's content may be resolved. The service later refuses a value that is not a page size. */
function pageSizeOf(field: FieldNode, variables: Record<string, unknown>, pages: PageSizes): number {
  const byDefault = pages.get(field.name.value);
  if (byDefault === undefined) return 1;
  const first = field.arguments?.find(({ name }) => name.value === 'first')?.value;
  if (!first) return byDefault;
  const value =
    first.kind === Kind.VARIABLE
      ? variables[first.name.value]
      : first.kind === Kind.INT
        ? Number(first.value)
        : null;
  return typeof value === 'number' && value >= 1 ? Math.min(value, MAX_PAGE_SIZE) : MAX_PAGE_SIZE;
}
