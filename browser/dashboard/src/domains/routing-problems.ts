import { refusalOf } from '../errors/refusal.js';
import { inputOf, type RoutingPlan } from './routing-plan.js';

/** The faults of a plan, next to the control to change. */
export interface RoutingProblems {
  primary: string | null;
  /** By host. */
  hosts: Readonly<Record<string, string>>;
}

/** The gateway names the entries of its input; here they get the names and the words that the owner sees. */
export function routingProblems(error: unknown, plan: RoutingPlan): RoutingProblems {
  const problems = refusalOf(error)?.errors ?? [];
  const sent = inputOf(plan).redirects;
  const primary = problems.find(({ field }) => field === 'primary');
  const ofHosts = problems.flatMap(({ field, message }) => {
    const [, index] = /^redirects\[(\d+)\]/.exec(field) ?? [];
    const redirect = sent[Number(index)];
    return redirect
      ? [[redirect.from, ofRedirect(redirect.from, plan) ?? `${redirect.from} ${message}.`]]
      : [];
  });
  return {
    primary: primary ? (ofPrimary(plan) ?? `The primary domain ${primary.message}.`) : null,
    hosts: Object.fromEntries(ofHosts),
  };
}

function ofPrimary({ primary, redirects }: RoutingPlan): string | null {
  const redirect = redirects[primary];
  if (!redirect) return null;
  return `${primary} can’t be the primary domain while it redirects to ${redirect.to}. Let it serve the project, or choose another one.`;
}

function ofRedirect(from: string, plan: RoutingPlan): string | null {
  const path = [from];
  for (let host = plan.redirects[from]?.to; host !== undefined; host = plan.redirects[host]?.to) {
    path.push(host);
    if (host === from)
      return `Visitors would never arrive: ${path.join(' → ')}. Let one of them serve the project.`;
    // A later circle has its problem at one of its own hosts.
    if (path.indexOf(host) < path.length - 1) return null;
  }
  return null;
}
