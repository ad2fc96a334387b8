import type { DomainSummaryFragment, DomainsInput } from '../graphql/generated.js';

export const REDIRECT_STATUSES = [301, 302, 307, 308] as const;

/** The editor's draft: what each host shall do. */
export interface RoutingPlan {
  /** A host; empty = none. */
  primary: string;
  /** By host; hosts that are not in it answer as the project. */
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

/** The plan with another act for one host; `to` empty = it answers as the project. */
export function withRedirect(plan: RoutingPlan, from: string, to: string, status: number): RoutingPlan {
  const { [from]: _, ...others } = plan.redirects;
  return { ...plan, redirects: to === '' ? others : { ...others, [from]: { to, status } } };
}
