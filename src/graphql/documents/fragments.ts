import { type DocumentNode, type FragmentDefinitionNode, Kind } from 'graphql';

/** A document's fragments by name. If two have the same name, which validation refuses, the last one counts. */
export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

export function fragmentsOf({ definitions }: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
}
