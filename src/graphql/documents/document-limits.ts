import { type DocumentNode, type FieldNode, Kind, OperationTypeNode, type SelectionSetNode } from 'graphql';
import { AppError } from '../../kernel/errors.js';
import { type Fragments, fragmentsOf } from './fragments.js';

const MAX_DEFINITIONS = 100;
const MAX_STEPS = 5_000;
/** Deeper operations are refused by their size, and endless fragments by validation. */
const MAX_DEPTH = 16;

/**
 * The reason to refuse a document before validation; null = validation takes only milliseconds. All operations and
 * fragments count, even those that are not executed. The document need not be valid.
 */
export function documentProblem(document: DocumentNode): AppError | null {
  const { length } = document.definitions;
  if (length > MAX_DEFINITIONS) {
    return tooLarge(
      `The document has ${length} operations and fragments; at most ${MAX_DEFINITIONS} are allowed.`,
    );
  }
  const comparison = new Comparison(fragmentsOf(document));
  for (const definition of document.definitions) {
    // No validation rule refuses it, and execution would fail with an internal error.
    if ('operation' in definition && definition.operation === OperationTypeNode.SUBSCRIPTION) {
      return new AppError('invalid_request', 'Subscriptions are not supported. Use a query instead.');
    }
    if ('selectionSet' in definition && definition.selectionSet) comparison.count([definition.selectionSet]);
  }
  if (comparison.steps <= MAX_STEPS) return null;
  return tooLarge('The document repeats too many fields of the same name, or fragments, in the same place.');
}

function tooLarge(reason: string): AppError {
  return new AppError('invalid_request', `${reason} Split it.`);
}

/**
 * Counts the pairs that graphql's rule OverlappingFieldsCanBeMerged compares: fields with one response name in one place,
 * and fragments spread in one place. Takes one step per selection, and stops at the limit.
 */
class Comparison {
  steps = 0;

  constructor(private readonly fragments: Fragments) {}

  /** `selectionSets` are merged in one place of the response. */
  count(selectionSets: readonly SelectionSetNode[], depth = 0): void {
    if (depth > MAX_DEPTH) return;
    const fields = new Map<string, FieldNode[]>();
    const spread = new Set<string>();
    for (const selectionSet of selectionSets) this.collect(selectionSet, fields, spread);
    this.steps += pairs(spread.size);
    for (const group of fields.values()) this.steps += pairs(group.length);
    for (const group of fields.values()) {
      if (this.steps > MAX_STEPS) return;
      const inner = group.flatMap(({ selectionSet }) => selectionSet ?? []);
      if (inner.length > 0) this.count(inner, depth + 1);
    }
  }

  private collect(
    { selections }: SelectionSetNode,
    fields: Map<string, FieldNode[]>,
    spread: Set<string>,
  ): void {
    for (const selection of selections) {
      this.steps += 1;
      if (this.steps > MAX_STEPS) return;
      if (selection.kind === Kind.INLINE_FRAGMENT) this.collect(selection.selectionSet, fields, spread);
      else if (selection.kind === Kind.FIELD) {
        const name = selection.alias?.value ?? selection.name.value;
        const group = fields.get(name);
        if (group) group.push(selection);
        else fields.set(name, [selection]);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = this.fragments.get(selection.name.value);
        if (fragment) this.collect(fragment.selectionSet, fields, spread);
      }
    }
  }
}

function pairs(count: number): number {
  return (count * (count - 1)) / 2;
}
