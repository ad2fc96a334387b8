import { type Answer, DnsUnreachable, isDecisive, valuesOf } from '../dns/dns-message.js';
import type { Diagnosis } from './diagnosis.js';
import { finding, listed, reasonOf, shown, timeInWords } from './finding.js';
import { isAuthority, isRefusal, type Lookup, type Observation } from './observation.js';

const ASK_AGAIN_MS = 30_000;
const OUR_REPAIR = { actor: 'PLATFORM', remedy: 'Nothing: we must repair it.' } as const;

/** The finding for name servers with bad answers: SERVFAIL, REFUSED, or without authority for their own zone. */
export function failingServers(seen: Observation): Diagnosis[] {
  const { nameServers, zone } = seen;
  const bad = nameServers
    .map(({ name, lookup }) => ({ name, lookup, replies: badReplies(lookup, seen) }))
    .filter(({ replies }) => replies.length > 0);
  const replies = bad.flatMap((server) => server.replies);
  const told = replies.find(({ extendedError }) => extendedError !== null) ?? replies[0];
  if (!told) return [];
  if (bad.every(({ lookup }) => failsForAddressesOnly(lookup))) return [aliasGone(replies, seen)];
  const names = bad.map(({ name }) => shown(name)).join(', ');
  const said = isDecisive(told)
    ? 'answer without authority for the zone'
    : `answer ${told.question.type} questions with ${told.rcode}${reasonOf(told)}`;
  const servers = `${bad.length} of ${nameServers.length} name servers of ${zone?.name} (${names})`;
  return [failing(`${servers} ${said}`, replies)];
}

/** Beside a CNAME, a SERVFAIL for an address is about the CNAME's target: some servers answer a loop like this. */
function badReplies(lookup: Lookup, { hostname }: Observation): Answer[] {
  const hasCname = valuesOf(lookup.filter(isAuthority), 'CNAME', hostname).length > 0;
  return lookup.filter(
    (reply) =>
      !isAuthority(reply) &&
      !(reply instanceof DnsUnreachable) &&
      !(hasCname && reply.rcode === 'SERVFAIL' && reply.question.type !== 'CNAME'),
  );
}

/** PowerDNS answers like this when it can't resolve the target of an ALIAS. */
function failsForAddressesOnly(lookup: Lookup): boolean {
  const answered = lookup.filter((reply) => !(reply instanceof DnsUnreachable));
  const [cnames, addresses] = [true, false].map((isCname) =>
    answered.filter(({ question }) => (question.type === 'CNAME') === isCname),
  ) as [Answer[], Answer[]];
  const isFailed = (reply: Answer) => reply.rcode === 'SERVFAIL' && reply.isAuthoritative;
  return cnames.some(isAuthority) && addresses.length > 0 && addresses.every(isFailed);
}

function aliasGone(evidence: readonly Answer[], { hostname, zone, platformHost }: Observation): Diagnosis {
  return finding('TARGET_GONE', evidence, {
    cause: `The name servers of ${zone?.name} can't resolve the addresses of ${hostname}: the target of its ALIAS or ANAME record probably does not exist.`,
    remedy: `Set the value of the ALIAS or ANAME record to ${platformHost}.`,
  });
}

/** The finding for a parent zone that names other servers than the zone itself, or servers that do not have the zone. */
export function wrongDelegation({ delegation, zone }: Observation): Diagnosis[] {
  // Without an answer the zone's own list is unknown, not empty.
  if (!delegation || delegation.own.length === 0) return [];
  const { parent, delegated, own, lame, evidence } = delegation;
  const stray = lame.filter(({ name }) => !own.includes(name));
  if (delegated.join() === own.join() && stray.length === 0) return [];
  const lacking = stray.length > 0 ? `; ${listed(stray.map(({ name }) => name))} does not have the zone` : '';
  return [
    finding('NAMESERVER_FAILING', [...evidence, ...stray.map(({ answer }) => answer)], {
      severity: 'WARNING',
      cause: `The parent zone ${parent} names ${listed(delegated)} as name servers of ${zone?.name}, but the zone itself names ${listed(own)}${lacking}.`,
      remedy: `Enter the name servers of your DNS provider both at your registrar and in the zone: ${listed(own)}, if these are right.`,
    }),
  ];
}

export function refusedQuestions({ host, hostname, nameServers, zone }: Observation): Diagnosis[] {
  const refused = host.filter(isRefusal);
  const told = refused.find(({ extendedError }) => extendedError !== null) ?? refused[0];
  if (!told) return [];
  const said = `${told.rcode}${reasonOf(told)}`;
  const own = nameServers.flatMap(({ lookup }) => lookup);
  if (own.length > 0 && own.every((reply) => reply instanceof DnsUnreachable)) {
    const names = listed(nameServers.map(({ name }) => name));
    const silent = `The name servers of ${zone?.name} (${names}) do not answer, and a resolver says ${said}`;
    return [failing(silent, [...refused, ...own])];
  }
  return [failing(`The name servers of ${hostname} give no usable answer: a resolver says ${said}`, refused)];
}

/** The finding for a resolver that does not answer, or that can't resolve the platform's own name. */
export function silentResolver({ host, platform, hostname, platformHost, atMs }: Observation): Diagnosis[] {
  const isSilent = (reply: Answer) => reply instanceof DnsUnreachable;
  const [refused] = platform.filter(isRefusal);
  if (host.some(isSilent)) return [unreachable(hostname, host.filter(isSilent), atMs)];
  if (refused) {
    const cause = `${platformHost} itself can't be resolved (${refused.rcode}), which is our fault.`;
    return [finding('NAMESERVER_FAILING', platform.filter(isRefusal), { ...OUR_REPAIR, cause })];
  }
  return platform.some(isSilent) ? [unreachable(platformHost, platform.filter(isSilent), atMs)] : [];
}

export function platformGone({ platform, platformHost, isApex }: Observation): Diagnosis {
  return finding('TARGET_GONE', platform, {
    ...OUR_REPAIR,
    severity: isApex ? 'ERROR' : 'WARNING',
    cause: `${platformHost} itself has no addresses, which is our fault, not yours.`,
  });
}

export function failing(problem: string, evidence: readonly Answer[]): Diagnosis {
  return finding('NAMESERVER_FAILING', evidence, {
    actor: 'DNS_PROVIDER',
    cause: `${problem}.`,
    remedy:
      'Ask your DNS provider to repair it; if the name servers at your registrar are not those of your provider, correct them there.',
  });
}

export function unreachable(name: string, silent: readonly Answer[], atMs: number): Diagnosis {
  const retryAtMs = atMs + ASK_AGAIN_MS;
  const reason = silent[0] instanceof DnsUnreachable ? silent[0].reason : 'timeout';
  return finding('DNS_UNREACHABLE', silent, {
    actor: 'NOBODY',
    cause: `DNS could not be asked for ${name} (${reason}), which says nothing about your records.`,
    remedy: `Nothing: we ask again at ${timeInWords(retryAtMs, atMs)}.`,
    retryAtMs,
  });
}
