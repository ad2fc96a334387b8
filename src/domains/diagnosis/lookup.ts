import { getPublicSuffix } from 'tldts';
import {
  type Answer,
  DnsUnreachable,
  isDecisive,
  type Question,
  type RecordType,
  valuesOf,
} from '../dns/dns-message.js';
import { isSendable } from '../dns/dns-packets.js';

const MAX_CHAIN = 8;

/** A server's replies about the target of a name. */
export type Lookup = readonly Answer[];

export type Ask = (question: Question) => Promise<Answer>;

const TARGETS: readonly RecordType[] = ['CNAME', 'A', 'AAAA'];

export function lookUp(name: string, ask: Ask, types = TARGETS): Promise<Lookup> {
  return Promise.all(types.map((type) => ask({ name, type })));
}

/**
 * Follows the CNAMEs that the resolver did not follow, one by one. A resolver answers a loop with SERVFAIL; a resolver
 * that does not follow CNAMEs answers with the first step only.
 */
export async function followCnames(name: string, lookup: Lookup, ask: Ask): Promise<Answer[]> {
  if (lookup.some(isMissing) || valuesOf(lookup, 'A').length + valuesOf(lookup, 'AAAA').length > 0) return [];
  const steps: Answer[] = [];
  const visited = new Set([name]);
  for (let last = lookup; steps.length < MAX_CHAIN; last = steps.slice(-1)) {
    const [target] = valuesOf(last, 'CNAME');
    if (target === undefined || visited.has(target) || !isSendable(target)) break;
    visited.add(target);
    steps.push(await ask({ name: target, type: 'CNAME' }));
  }
  return steps;
}

/** The replies of a lookup that have records; all replies when none has. */
export function tellingReplies(lookup: Lookup): Lookup {
  const full = lookup.filter(({ records }) => records.length > 0);
  return full.length > 0 ? full : lookup;
}

/** Whether the name, or the end of its chain of CNAMEs, does not exist. */
export function isMissing({ rcode }: Answer): boolean {
  return rcode === 'NXDOMAIN';
}

export function isAuthority(reply: Answer): boolean {
  return isDecisive(reply) && reply.isAuthoritative;
}

/** Whether a server answered without saying which records exist. */
export function isRefusal(reply: Answer): boolean {
  return !isDecisive(reply) && !(reply instanceof DnsUnreachable);
}

/**
 * The name whose wildcard record would answer for `hostname`: its parent. For a registrable domain the name itself, because
 * the names next to that belong to others.
 */
export function wildcardParentOf(hostname: string): string {
  const parent = hostname.slice(hostname.indexOf('.') + 1);
  return isPublicSuffix(parent) || parent === hostname ? hostname : parent;
}

export function isPublicSuffix(name: string): boolean {
  return getPublicSuffix(name) === name;
}
