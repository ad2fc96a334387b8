import { DnsUnreachable } from '../../dns/dns-unreachable.js';
import { isPrivateAddress } from '../../dns/private-addresses.js';
import type { DiagnosisCode } from './diagnosis.js';
import { listed, type Reply, shown } from './evidence.js';
import type { Finding } from './finding.js';
import {
  type Aim,
  addressSet,
  blockingAddresses,
  cnamesOf,
  isDecisive,
  type Judgement,
  judge,
  targetsOf,
} from './judgement.js';
import type { Lookup } from './lookup.js';
import type { Observation } from './observation.js';

/** The findings about a server's answers: the records at the name, and the typing errors that explain them. */
export function recordFindings(seen: Observation, aim: Aim, lookup: Lookup): Finding[] {
  const judgement = judge(lookup, aim);
  const findings = judgement.codes.map((code) => findingOf(code, judgement, { seen, aim, lookup }));
  if (judgement.leadsHere !== false) return findings;
  const doubled = doubledFinding(seen);
  const hasNothing = judgement.cnames.length + judgement.ours.length + judgement.foreign.length === 0;
  if (doubled && hasNothing) return [doubled];
  return [
    ...findings,
    ...goneFindings(seen, judgement),
    ...(doubled && leadsTo(doubled.lookup, aim) ? [doubled] : []),
  ];
}

/** The replies of a lookup that have records; all replies when none has. */
export function tellingReplies({ cname, a, aaaa }: Lookup): Reply[] {
  const replies = [cname, a, aaaa];
  const full = replies.filter((reply) => !(reply instanceof DnsUnreachable) && reply.records.length > 0);
  return full.length > 0 ? full : replies;
}

/** The result of a lookup in words: `CNAME old.example.net`, `192.0.2.1, 192.0.2.2`, `no record`. */
export function inWords({ cnames, ours, foreign, doesNotExist }: Judgement): string {
  if (cnames.length > 0) return `CNAME ${listed(cnames)}`;
  if (ours.length + foreign.length > 0) return listed([...ours, ...foreign]);
  return doesNotExist ? 'no such name' : 'no record';
}

interface Context {
  seen: Observation;
  aim: Aim;
  lookup: Lookup;
}

function findingOf(code: DiagnosisCode, judgement: Judgement, { seen, aim, lookup }: Context): Finding {
  const evidence = tellingReplies(lookup);
  const cname = listed(judgement.cnames);
  const foreign = listed(judgement.foreign);
  switch (code) {
    case 'CNAME_WRONG_VALUE': {
      const loop = loopOf(seen, judgement);
      if (!loop) return { text: code, facts: { seen: cname }, evidence };
      return {
        text: 'CNAME_LOOP',
        facts: { seen: listed(loop, ' → ') },
        evidence: [...evidence, ...seen.chain],
      };
    }
    case 'VALUE_DOUBLED': {
      const zone = aim.zones.find((candidate) =>
        judgement.cnames.includes(`${aim.platformHost}.${candidate}`),
      );
      return { text: code, facts: { seen: cname, zone: zone ?? seen.zone }, evidence };
    }
    case 'CONFLICTING_RECORD': {
      const blocking = judgement.cnames.length > 0 ? blockingAddresses(lookup, aim) : judgement.foreign;
      const types = [...new Set(blocking.map((ip) => (ip.includes(':') ? 'AAAA' : 'A')))].sort();
      return {
        text: code,
        facts: { seen: listed(blocking), about: `${types.join(' and ')} records` },
        evidence,
      };
    }
    case 'APEX_NEEDS_ALIAS': {
      const detail =
        judgement.cnames.length > 0 ? `, but there is one to ${cname}` : ', and it has no address';
      return { text: code, facts: { detail }, evidence };
    }
    case 'ADDRESS_ELSEWHERE': {
      const detail = judgement.foreign.every(isPrivateAddress)
        ? ', which nobody can reach from the Internet'
        : '';
      return { text: code, facts: { seen: foreign, detail }, evidence };
    }
    case 'DNS_NO_RECORD': {
      const missing = judgement.doesNotExist
        ? 'does not exist in DNS'
        : 'exists in DNS, but has no CNAME and no address';
      return { text: code, facts: { seen: missing, about: seen.orphan ?? '' }, evidence };
    }
    default:
      return {
        text: code as 'ADDRESS_MIXED' | 'AAAA_FOREIGN' | 'PROXIED' | 'FLATTENED',
        facts: { seen: foreign, about: listed(judgement.ours) },
        evidence,
      };
  }
}

/** The names of a CNAME loop, or null. Only when the resolver saw the same first step. */
function loopOf(seen: Observation, { cnames }: Judgement): string[] | null {
  const next = chainOf(seen);
  if (!cnames.includes(next.get(seen.hostname) ?? '')) return null;
  const names = [seen.hostname];
  for (;;) {
    const target = next.get(names.at(-1) ?? '');
    if (target === undefined) return null;
    names.push(target);
    if (names.indexOf(target) < names.length - 1) return names;
  }
}

/** The finding for a CNAME to a name that does not exist. */
function goneFindings(seen: Observation, { cnames, codes }: Judgement): Finding[] {
  const next = chainOf(seen);
  if (!codes.includes('CNAME_WRONG_VALUE') || !cnames.includes(next.get(seen.hostname) ?? '')) return [];
  const { a, aaaa } = seen.host;
  const missing = [a, aaaa, ...seen.chain].filter(
    (reply) => !(reply instanceof DnsUnreachable) && reply.rcode === 'NXDOMAIN',
  );
  if (missing.length === 0) return [];
  let end = seen.hostname;
  // NXDOMAIN is about the last name of the chain, so the chain ends.
  for (let step = 0; step < next.size; step += 1) end = next.get(end) ?? end;
  return [{ text: 'TARGET_GONE', facts: { seen: shown(end) }, evidence: missing }];
}

function chainOf({ host, chain }: Observation): ReadonlyMap<string, string> {
  const replies = [host.cname, host.a, host.aaaa, ...chain];
  const records = replies.flatMap((reply) => (reply instanceof DnsUnreachable ? [] : reply.records));
  return new Map(records.filter(({ type }) => type === 'CNAME').map(({ name, value }) => [name, value]));
}

/** The finding for a record created at the name with the zone appended. An answer from a wildcard proves nothing. */
function doubledFinding(seen: Observation): (Finding & { lookup: Lookup }) | null {
  for (const { zone, lookup, below } of seen.doubled) {
    const content = contentOf(lookup);
    if (content === '' || content === contentOf(below) || !isDecisive(below.a)) continue;
    const evidence = [...tellingReplies(lookup), ...tellingReplies(seen.host)];
    return { text: 'NAME_DOUBLED', facts: { about: lookup.name, zone }, evidence, lookup };
  }
  return null;
}

/** Whether a lookup points here in any way. */
export function leadsTo(lookup: Lookup, aim: Aim): boolean {
  const isOurs = (['a', 'aaaa'] as const).some((family) =>
    [...(addressSet(lookup, family) ?? [])].some((ip) => aim.ours[family]?.has(ip)),
  );
  return isOurs || targetsOf(lookup).includes(aim.platformHost);
}

function contentOf(lookup: Lookup): string {
  const addresses = (['a', 'aaaa'] as const).flatMap((family) => [...(addressSet(lookup, family) ?? [])]);
  return [...cnamesOf(lookup), ...addresses].sort().join(' ');
}
