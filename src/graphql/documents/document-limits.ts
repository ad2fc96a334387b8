import { type DocumentNode, OperationTypeNode, type SelectionSetNode } from 'graphql';
import { AppError } from '../../kernel/errors.js';
import { fragmentsOf, placeOf } from './selections.js';

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
  const count = comparisonOf(document);
  let steps = 0;
  for (const definition of document.definitions) {
    // No validation rule refuses it, and execution would fail with an internal error.
    if ('operation' in definition && definition.operation === OperationTypeNode.SUBSCRIPTION) {
      return new AppError('invalid_request', 'Subscriptions are not supported. Use a query instead.');
    }
    if ('selectionSet' in definition && definition.selectionSet) steps = count([definition.selectionSet]);
  }
  if (steps <= MAX_STEPS) return null;
  return tooLarge('The document repeats too many fields of the same name, or fragments, in the same place.');
}

function tooLarge(reason: string): AppError {
  return new AppError('invalid_request', `${reason} Split it.`);
}

/**
 * Counts the pairs that graphql's rule OverlappingFieldsCanBeMerged compares: fields with one response name in one place,
 * and fragments spread in one place. Takes one step per selection, and stops at the limit. The returned function adds
 * selections that are merged in one place, and returns the steps so far.
 */
function comparisonOf(document: DocumentNode) {
  const fragments = fragmentsOf(document);
  let steps = 0;
  const isWithinLimit = () => {
    steps += 1;
    return steps <= MAX_STEPS;
  };
  return function count(selectionSets: readonly SelectionSetNode[], depth = 0): number {
    if (depth > MAX_DEPTH || selectionSets.length === 0) return steps;
    const { fields, spread } = placeOf(selectionSets, fragments, isWithinLimit);
    const groups = [...fields.values()];
    steps += pairs(spread.size);
    for (const group of groups) steps += pairs(group.length);
    for (const group of groups) {
      if (steps > MAX_STEPS) break;
      const inner = group.flatMap(({ selectionSet }) => selectionSet ?? []);
      count(inner, depth + 1);
    }
    return steps;
  };
}

function pairs(count: number): number {
  return (count * (count - 1)) / 2;
}
