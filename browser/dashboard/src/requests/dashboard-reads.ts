import type { DocumentNode } from 'graphql';
import type { RequestPartsFragment } from '../graphql/generated.js';
import * as generated from '../graphql/generated.js';

const OWN: ReadonlySet<string> = new Set(
  (Object.values(generated) as DocumentNode[])
    .flatMap(({ definitions }) => definitions)
    .flatMap((each) => (each.kind === 'OperationDefinition' && each.name ? each.name.value : [])),
);

/** Whether the dashboard gives this name to one of its operations. */
export function isDashboardOperation(operation: string): boolean {
  return OWN.has(operation);
}

/** A look of a dashboard that spent nothing of the plan and went well. An open dashboard sends twenty a minute. */
export function isDashboardRead({ operation, door, outcome, units }: RequestPartsFragment): boolean {
  return door === 'GRAPHQL' && outcome === 'OK' && units === 0 && isDashboardOperation(operation);
}
