import { type FieldNode, Kind, type SelectionSetNode } from 'graphql';
import type { Fragments } from '../documents/fragments.js';

/** The fields selected in one place of a response, grouped by `keyOf`. Also terminates for cyclic fragments. */
export function placesOf(
  selectionSets: readonly SelectionSetNode[],
  fragments: Fragments,
  keyOf: (node: FieldNode) => string,
): Map<string, FieldNode[]> {
  const places = new Map<string, FieldNode[]>();
  const spread = new Set<string>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet);
      else if (selection.kind === Kind.FIELD) {
        const key = keyOf(selection);
        const nodes = places.get(key);
        if (nodes) nodes.push(selection);
        else places.set(key, [selection]);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = fragments.get(selection.name.value);
        if (fragment) collect(fragment.selectionSet);
      }
    }
  };
  for (const selectionSet of selectionSets) collect(selectionSet);
  return places;
}

/** The field's name in the response. */
export function responseName({ alias, name }: FieldNode): string {
  return alias?.value ?? name.value;
}
