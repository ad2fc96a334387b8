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

export const ADDRESSES = ['A', 'AAAA'] as const;
const TARGETS = ['CNAME', ...ADDRESSES] as const;

export function lookUp(name: string, ask: Ask, types: readonly RecordType[] = TARGETS): Promise<Lookup> {
  return Promise.all(types.map((type) => ask({ name, type })));
}

/**
 * The names of a chain of CNAMEs; the last name of a loop occurs twice. `replies` has the steps that the resolver did not
 * follow. A resolver answers a loop with SERVFAIL; a resolver that does not follow CNAMEs answers with the first step only.
 */
export async function followCnames(
  name: string,
  lookup: Lookup,
  ask: Ask,
): Promise<{ names: string[]; replies: Answer[] }> {
  const isFollowed = lookup.some(isMissing) || ADDRESSES.some((type) => valuesOf(lookup, type).length > 0);
  const names = [name];
  const replies: Answer[] = [];
  for (let last = name; ; ) {
    let [target] = valuesOf([...lookup, ...replies], 'CNAME', last);
    if (!target && last !== name && !isFollowed && replies.length < MAX_CHAIN && isSendable(last)) {
      replies.push(await ask({ name: last, type: 'CNAME' }));
      [target] = valuesOf(replies.slice(-1), 'CNAME', last);
    }
    if (target === undefined) return { names, replies };
    const isLoop = names.includes(target);
    names.push(target);
    if (isLoop) return { names, replies };
    last = target;
  }
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
