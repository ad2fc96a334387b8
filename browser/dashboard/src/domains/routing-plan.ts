import type { DomainSummaryFragment, DomainsInput } from '../graphql/generated.js';

export const REDIRECT_STATUSES = [
  { status: 301, meaning: 'permanent' },
  { status: 302, meaning: 'temporary' },
  { status: 307, meaning: 'temporary, keeps the method' },
  { status: 308, meaning: 'permanent, keeps the method' },
] as const;

/** The editor's draft: how each host should handle requests. */
export interface RoutingPlan {
  /** A host; empty = none. */
  primary: string;
  /** By host; a host without an entry serves the project. */
  redirects: Readonly<Record<string, { to: string; status: number }>>;
}

export function planOf(domains: readonly DomainSummaryFragment[]): RoutingPlan {
  const redirecting = domains.flatMap(({ hostname, redirect }) =>
    redirect ? [[hostname, { to: redirect.to, status: redirect.status }] as const] : [],
  );
  return {
    primary: domains.find(({ primary }) => primary)?.hostname ?? '',
    redirects: Object.fromEntries(redirecting),
  };
}

export function inputOf({ primary, redirects }: RoutingPlan): DomainsInput {
  return {
    primary: primary === '' ? null : primary,
    redirects: Object.entries(redirects).map(([from, { to, status }]) => ({ from, to, status })),
  };
}

/** The plan with another action for one host; `to` empty = it serves the project. */
export function withRedirect(plan: RoutingPlan, from: string, to: string, status: number): RoutingPlan {
  const { [from]: _, ...others } = plan.redirects;
  return { ...plan, redirects: to === '' ? others : { ...others, [from]: { to, status } } };
}
