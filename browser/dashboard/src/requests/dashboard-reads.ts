import type { DocumentNode } from 'graphql';
import type { RequestPartsFragment } from '../graphql/generated.js';
import * as generated from '../graphql/generated.js';

/** The names of the dashboard's own operations. */
const OWN: ReadonlySet<string> = new Set(
  (Object.values(generated) as DocumentNode[])
    .flatMap(({ definitions }) => definitions)
    .flatMap((each) => (each.kind === 'OperationDefinition' && each.name ? each.name.value : [])),
);

/** A look of a dashboard that spent nothing of the plan and went well. An open dashboard sends twenty a minute. */
export function isDashboardRead({ operation, door, outcome, units }: RequestPartsFragment): boolean {
  return door === 'GRAPHQL' && outcome === 'OK' && units === 0 && OWN.has(operation);
}
