import type { Answer } from '../../dns/dns-message.js';
import { DnsUnreachable } from '../../dns/dns-unreachable.js';
import { listed, type Reply, shown } from './evidence.js';
import type { Finding } from './finding.js';
import { cnamesOf, isDecisive } from './judgement.js';
import type { Lookup } from './lookup.js';
import type { Observation } from './observation.js';

const ASK_AGAIN_MS = 30_000;

/** The finding for name servers with bad answers: SERVFAIL, REFUSED, or without authority for their own zone. */
export function failingServerFindings(seen: Observation, isAllThereIs: boolean): Finding[] {
  const failing = seen.nameServers
    .map(({ name, lookup }) => ({ name, refusals: refusalsOf(lookup) }))
    .filter(({ refusals }) => refusals.length > 0);
  const [first] = failing.flatMap(({ refusals }) => refusals);
  if (!first) return [];
  const about = `${failing.length} of ${seen.nameServers.length} name servers of ${seen.zone} (${failing.map(({ name }) => shown(name)).join(', ')})`;
  const said = isDecisive(first)
    ? 'answer without authority for the zone'
    : `answer ${first.question.type} questions with ${first.rcode}`;
  return [
    {
      text: 'NAMESERVER_FAILING',
      facts: { about, seen: said },
      evidence: failing.flatMap(({ refusals }) => refusals),
      severity: isAllThereIs ? 'ERROR' : 'WARNING',
    },
  ];
}

/** The finding for a parent zone that names other servers than the zone itself, or servers that do not have the zone. */
export function delegationFindings({ delegation }: Observation): Finding[] {
  if (!delegation) return [];
  const { parent, delegated, own, lame, evidence } = delegation;
  const stray = lame.filter(({ name }) => !own.includes(name));
  const isSame = delegated.join() === own.join();
  if (isSame && stray.length === 0) return [];
  const lacking = stray.length > 0 ? `; ${listed(stray.map(({ name }) => name))} does not have the zone` : '';
  const facts = {
    about: `The parent zone ${parent} names ${listed(delegated)}`,
    seen: listed(own),
    detail: lacking,
  };
  const replies = [...evidence, ...stray.map(({ answer }) => answer)];
  return [{ text: 'DELEGATION_DIFFERS', facts, evidence: replies }];
}

/** The lookup with non-authoritative replies replaced by `malformed`. */
export function authoritative(lookup: Lookup): Lookup {
  const { a, aaaa, cname } = lookup;
  const silence = ({ server, question, atMs }: Reply) =>
    new DnsUnreachable(server, question, 'malformed', atMs);
  const own = (reply: Reply) => (isAuthority(reply) ? reply : silence(reply));
  return { ...lookup, a: own(a), aaaa: own(aaaa), cname: own(cname) };
}

export function isAuthority(reply: Reply): reply is Answer {
  return isDecisive(reply) && !(reply instanceof DnsUnreachable) && reply.isAuthoritative;
}

/** The finding for an answer that the resolver gives only without validation. It refuses a CNAME loop either way. */
export function dnssecFindings({ host, unvalidated, zone, zones }: Observation): Finding[] {
  // With a CNAME, the zone of the target is the one that fails.
  if (unvalidated === null || !isDecisive(unvalidated) || cnamesOf(host).length > 0) return [];
  const refused = [host.a, host.aaaa, host.cname].filter(isRefusal);
  const reason = refused.find(({ extendedError }) => extendedError !== null)?.extendedError;
  const detail = reason ? ` (resolver: ${shown(reason)})` : '';
  return [
    {
      text: 'DNSSEC_BROKEN',
      facts: { detail, zone: zone ?? zones.at(-1) ?? null },
      evidence: [...refused, unvalidated],
    },
  ];
}

/** The reasons why the resolver's answers do not show the target of the name. */
export function resolverFindings(seen: Observation): Finding[] {
  const { host, platform, hostname } = seen;
  const replies = [host.cname, host.a, host.aaaa];
  const refused = replies.filter(isRefusal);
  if (refused[0]) {
    const about = `The name servers of ${hostname}`;
    const reason = refused[0].extendedError;
    const said = `give no usable answer: a resolver says ${refused[0].rcode}${reason ? ` (${shown(reason)})` : ''}`;
    return [{ text: 'NAMESERVER_FAILING', facts: { about, seen: said }, evidence: refused }];
  }
  const silent = replies.filter((reply) => reply instanceof DnsUnreachable);
  if (silent.length > 0) return [unreachable(hostname, silent, seen.atMs)];
  const ours = [platform.a, platform.aaaa];
  const failing = ours.filter(isRefusal);
  if (failing[0]) return [{ text: 'PLATFORM_FAILING', facts: { seen: failing[0].rcode }, evidence: failing }];
  const unknown = ours.filter((reply) => reply instanceof DnsUnreachable);
  return unknown.length > 0 ? [unreachable(seen.platformHost, unknown, seen.atMs)] : [];
}

export function unreachable(about: string, silent: readonly DnsUnreachable[], atMs: number): Finding {
  return {
    text: 'DNS_UNREACHABLE',
    facts: { about, seen: silent[0]?.reason ?? 'timeout' },
    evidence: silent,
    retryAtMs: atMs + ASK_AGAIN_MS,
  };
}

function isRefusal(reply: Reply): reply is Answer {
  return !(reply instanceof DnsUnreachable) && !isDecisive(reply);
}

function refusalsOf({ cname, a, aaaa }: Lookup): Answer[] {
  return [cname, a, aaaa].filter(
    (reply): reply is Answer => !(reply instanceof DnsUnreachable) && !isAuthority(reply),
  );
}
