import type { NounScope } from '../../ground/kernel/caller.js';
import { type FieldProblem, refuseProblems } from '../../ground/kernel/errors.js';
import { got } from '../../ground/kernel/got.js';
import { NAME, validator } from '../../ground/kernel/validation.js';
import { type AgreedPlan, MAX_QUOTA, OPEN_STREAMS, type Plan } from './plans.js';

/** A label of the project's generated host name. */
export const SLUG = '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$';

const problemsOf = validator({
  type: 'object',
  required: ['slug', 'name'],
  properties: {
    slug: {
      type: 'string',
      pattern: SLUG,
      rule: 'must be 1 to 63 lower-case letters, digits or hyphens, with no hyphen at either end',
    },
    name: NAME,
  },
});

/** Throws `AppError invalid_request` with every invalid field. */
export function checkNewProject(wanted: AgreedPlan & { slug: string; name: string }): void {
  refuseProblems([...problemsOf({ slug: wanted.slug, name: wanted.name }), ...quotaProblems(wanted)]);
}

/** Only ENTERPRISE has individual quotas. Throws `AppError invalid_request`. */
export function checkQuotas(wanted: AgreedPlan): void {
  refuseProblems(quotaProblems(wanted));
}

/** Only ENTERPRISE has an individual number of open streams. Throws `AppError invalid_request`. */
export function checkStreams(plan: Plan, mostStreams: number | undefined): void {
  if (mostStreams === undefined || plan === 'ENTERPRISE') return;
  refuseProblems([
    { field: 'streams', message: `must be omitted: the ${plan} plan has ${OPEN_STREAMS[plan]}` },
  ]);
}

/** An import as the client that did it tells it. */
export interface StatedImport {
  /** In plural. */
  resource: string;
  /** The name of the file. */
  file: string;
  /** Records that were created. */
  imported: number;
  /** Rows that were refused. */
  refused: number;
}

/** The scope that an import needs, of those given. Throws `AppError invalid_request` with every invalid field. */
export function checkImport(
  { resource, file, imported, refused }: StatedImport,
  scopes: readonly NounScope[],
): NounScope {
  const scope = scopes.find((each) => each === `${resource}:write`);
  const counts = Object.entries({ imported, refused }).filter(([, count]) => count < 0);
  refuseProblems([
    ...(scope ? [] : [{ field: 'resource', message: got(`must be ${resourcesOf(scopes)}`, resource) }]),
    ...fileProblems({ file }),
    ...counts.map(([field, count]) => ({ field, message: got('must be 0 or more', count) })),
  ]);
  return scope as NounScope;
}

function resourcesOf(scopes: readonly NounScope[]): string {
  const changed = scopes.filter((scope) => scope.endsWith(':write'));
  const resources = changed.map((scope) => scope.replace(':write', ''));
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(resources);
}
const fileProblems = validator({ type: 'object', required: ['file'], properties: { file: NAME } });

function quotaProblems({ plan, perMinute, perDay }: AgreedPlan): FieldProblem[] {
  const isAgreed = plan === 'ENTERPRISE';
  const message = isAgreed
    ? `must be a whole number from 1 to ${MAX_QUOTA} on the ENTERPRISE plan`
    : `must be omitted: the quotas of the ${plan} plan are fixed`;
  return Object.entries({ perMinute, perDay })
    .filter(([, quota]) => (isAgreed ? !isQuota(quota) : quota !== null))
    .map(([field, quota]) => ({ field, message: isAgreed ? got(message, quota ?? undefined) : message }));
}

function isQuota(quota: number | null): boolean {
  return Number.isInteger(quota) && Number(quota) >= 1 && Number(quota) <= MAX_QUOTA;
}
