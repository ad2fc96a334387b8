import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

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

interface Place {
  /** By name in the response. */
  readonly fields: ReadonlyMap<string, readonly FieldNode[]>;
  readonly spread: ReadonlySet<string>;
}

/** Merges the selections of one place of the response: each fragment is read once, so cyclic fragments end. */
export function placeOf(
  selectionSets: readonly SelectionSetNode[],
  fragments: Fragments,
  enter: SelectionReader['enter'] = () => true,
): Place {
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
