import { DnsUnreachable } from '../../dns/dns-unreachable.js';
import { isProof } from './dns-records.js';
import { type Reply, shown } from './evidence.js';
import type { Finding } from './finding.js';
import { isDecisive } from './judgement.js';
import type { Observation, Proof } from './observation.js';
import { isAuthority, unreachable } from './server-findings.js';

export interface OwnershipVerdict {
  /** As `Verdict.isOwnershipProved`. */
  isProved: boolean | null;
  findings: Finding[];
}

/** Whether the TXT record exists. A name server of the zone may have it before caches do. */
export function ownershipVerdict(seen: Observation): OwnershipVerdict {
  if (seen.ownership === null) return { isProved: null, findings: [] };
  const { name, value, txt, atHost, isAssumed = false } = seen.ownership;
  const direct = seen.nameServers.flatMap((server) => server.txt ?? []);
  const replies = repliesThatCount(direct, txt);
  if (replies.some((reply) => textsOf(reply).includes(value))) return { isProved: true, findings: [] };
  if (isAssumed) return rivalVerdict(seen.ownership, replies);
  if (replies.length === 0) {
    if (txt instanceof DnsUnreachable)
      return { isProved: null, findings: [unreachable(name, [txt], seen.atMs)] };
    const facts = { about: `The name servers of ${name}`, seen: `answer TXT questions with ${txt.rcode}` };
    return { isProved: null, findings: [{ text: 'NAMESERVER_FAILING', facts, evidence: [txt] }] };
  }
  const others = [...new Set(replies.flatMap(textsOf))];
  if (others.length > 0) {
    const detail = `: ${others
      .slice(0, 5)
      .map((text) => JSON.stringify(shown(text)))
      .join(', ')}`;
    return {
      isProved: false,
      findings: [
        { text: 'OWNERSHIP_TXT_MISMATCH', facts: { about: name, seen: value, detail }, evidence: replies },
      ],
    };
  }
  const isAtHost = textsOf(atHost).includes(value);
  const detail = isAtHost ? `: it is on ${seen.hostname} itself` : '';
  const evidence = isAtHost ? [...replies, atHost] : replies;
  return {
    isProved: false,
    findings: [{ text: 'OWNERSHIP_TXT_MISSING', facts: { about: name, seen: value, detail }, evidence }],
  };
}

/** Another project's proof counts, because only somebody who controls the name's DNS can create it. */
function rivalVerdict({ name, value }: Proof, replies: readonly Reply[]): OwnershipVerdict {
  const evidence = replies.filter((reply) => textsOf(reply).some(isProof));
  if (evidence.length === 0) return { isProved: null, findings: [] };
  const facts = { about: name, seen: value };
  return { isProved: false, findings: [{ text: 'OWNERSHIP_CONTESTED', facts, evidence }] };
}

/**
 * The answers of the zone's name servers, because a cache keeps a deleted proof; the resolver's when none of them decides.
 * A name server does not follow a CNAME to another zone.
 */
export function repliesThatCount(direct: readonly Reply[], cached: Reply): Reply[] {
  const own = direct
    .filter(isAuthority)
    .filter(({ records }) => !records.some(({ type }) => type === 'CNAME'));
  return own.length > 0 ? own : [cached].filter(isDecisive);
}

/** The TXT records of a reply, without the typed quotes that some providers keep. */
export function textsOf(reply: Reply): string[] {
  if (reply instanceof DnsUnreachable) return [];
  const texts = reply.records.filter(({ type }) => type === 'TXT').map(({ value }) => value.trim());
  return texts.map((text) => /^"(.*)"$/.exec(text)?.[1] ?? text);
}
