import { randomBytes } from 'node:crypto';
import { getPublicSuffix } from 'tldts';
import type { Question, RecordType } from '../../dns/dns-message.js';
import { isSendable } from '../../dns/dns-packets.js';
import { DnsUnreachable } from '../../dns/dns-unreachable.js';
import type { Reply } from './evidence.js';

const MAX_CHAIN = 8;

/** A server's answers about the target of a name. */
export interface Lookup {
  name: string;
  cname: Reply;
  a: Reply;
  aaaa: Reply;
}

export type Ask = (question: Question) => Promise<Reply>;

export async function lookUp(name: string, ask: Ask): Promise<Lookup> {
  const question = (type: RecordType) => ask({ name, type });
  const [cname, a, aaaa] = await Promise.all([question('CNAME'), question('A'), question('AAAA')]);
  return { name, cname, a, aaaa };
}

/** The reply; `DnsUnreachable` as a value instead of an error. */
export async function replyTo(asked: Promise<Reply>): Promise<Reply> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof DnsUnreachable) return error;
    throw error;
  }
}

/**
 * Follows the CNAMEs that the resolver did not follow, one by one. A resolver answers a loop with SERVFAIL; a resolver
 * that does not follow CNAMEs answers with the first step only.
 */
export async function followCnames({ name, cname, a, aaaa }: Lookup, ask: Ask): Promise<Reply[]> {
  const isFollowed = [a, aaaa].some(
    (reply) =>
      !(reply instanceof DnsUnreachable) &&
      (reply.rcode === 'NXDOMAIN' || reply.records.some(({ type }) => type === 'A' || type === 'AAAA')),
  );
  const steps: Reply[] = [];
  const visited = new Set([name]);
  for (let last = cname; !isFollowed && steps.length < MAX_CHAIN; ) {
    const target = recordsOf(last).find(({ type }) => type === 'CNAME')?.value;
    if (target === undefined || visited.has(target) || !isSendable(target)) break;
    visited.add(target);
    last = await ask({ name: target, type: 'CNAME' });
    steps.push(last);
  }
  return steps;
}

export function recordsOf(reply: Reply) {
  return reply instanceof DnsUnreachable ? [] : reply.records;
}

/** A random name next to a subdomain, or below a registrable domain, because the names next to that belong to others. */
export function siblingOf(hostname: string): string {
  const parent = hostname.slice(hostname.indexOf('.') + 1);
  return nameBelow(isPublicSuffix(parent) || parent === hostname ? hostname : parent);
}

export function nameBelow(name: string): string {
  return `probe-${randomBytes(6).toString('hex')}.${name}`;
}

export function isPublicSuffix(name: string): boolean {
  return getPublicSuffix(name) === name;
}
