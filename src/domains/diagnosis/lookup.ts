import { DnsUnreachable, type Question, type RecordType, type ResourceRecord } from '../dns/dns-message.js';
import { isSendable } from '../dns/dns-packets.js';
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
  if (isMissing(a) || isMissing(aaaa) || valuesOf([a], 'A').length + valuesOf([aaaa], 'AAAA').length > 0)
    return [];
  const steps: Reply[] = [];
  const visited = new Set([name]);
  for (let last = cname; steps.length < MAX_CHAIN; ) {
    const [target] = valuesOf([last], 'CNAME');
    if (target === undefined || visited.has(target) || !isSendable(target)) break;
    visited.add(target);
    last = await ask({ name: target, type: 'CNAME' });
    steps.push(last);
  }
  return steps;
}

export function repliesOf({ cname, a, aaaa }: Lookup): Reply[] {
  return [cname, a, aaaa];
}

/** The replies of a lookup that have records; all replies when none has. */
export function tellingReplies(lookup: Lookup): Reply[] {
  const full = repliesOf(lookup).filter((reply) => recordsOf(reply).length > 0);
  return full.length > 0 ? full : repliesOf(lookup);
}

export function recordsOf(reply: Reply): ResourceRecord[] {
  return reply instanceof DnsUnreachable ? [] : reply.records;
}

/** The distinct values of the records with this type, and with this name if one is given. */
export function valuesOf(replies: readonly Reply[], type: RecordType, name?: string): string[] {
  const found = replies
    .flatMap(recordsOf)
    .filter((record) => record.type === type && record.name === (name ?? record.name));
  return [...new Set(found.map(({ value }) => value))];
}

/** NOERROR and NXDOMAIN tell which records exist; SERVFAIL, REFUSED and other codes tell nothing. */
export function isDecisive(reply: Reply): boolean {
  return !(reply instanceof DnsUnreachable) && ['NOERROR', 'NXDOMAIN'].includes(reply.rcode);
}

/** Whether the name, or the end of its chain of CNAMEs, does not exist. */
export function isMissing(reply: Reply): boolean {
  return !(reply instanceof DnsUnreachable) && reply.rcode === 'NXDOMAIN';
}
