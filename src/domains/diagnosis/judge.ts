import { type Answer, isDecisive, valuesOf } from '../dns/dns-message.js';
import { isPrivateAddress } from '../dns/private-addresses.js';
import type { Diagnosis } from './diagnosis.js';
import { finding, listed, shown } from './finding.js';
import { dnameAbove, newRecord, withoutDname } from './new-record.js';
import { ADDRESSES, isMissing, type Lookup, type Observation, tellingReplies } from './observation.js';

/** The meaning of a server's answers. */
export interface Judgement {
  /** Null = the answers do not decide it. */
  leadsHere: boolean | null;
  findings: Diagnosis[];
  /** What is there: `CNAME old.example.net`, `192.0.2.1, 192.0.2.2`, `no record`. */
  found: string;
}

/** The name servers of a provider whose proxy is on by default: foreign addresses of both families in such a zone are its proxy. */
const PROXYING_PROVIDER = '.ns.cloudflare.com';

/**
 * Whether a lookup points to the platform. A subdomain needs a CNAME to exactly the value shown (SPEC 4, 8). An apex needs
 * addresses that all belong to the platform (SPEC 5). A part of the platform's addresses is enough, because providers
 * rotate them, and a family may be missing. A subdomain without a visible CNAME is judged like an apex, because providers
 * flatten CNAMEs.
 */
export function judge(lookup: Lookup, seen: Observation): Judgement {
  const cnames = valuesOf(lookup, 'CNAME', seen.hostname);
  const addresses = addressesIn(lookup, seen);
  const isNameMissing = lookup.some((reply) => isMissing(reply) && reply.records.length === 0);
  const doubled = doubledFinding(seen);
  const wrong = (found: string, findings: Diagnosis[]): Judgement => {
    const isDoubledOurs = seen.doubled !== null && leadsTo([seen.doubled.there], seen);
    return { leadsHere: false, findings: [...findings, ...(isDoubledOurs ? doubled : [])], found };
  };

  if (cnames.length > 0) {
    const found = `CNAME ${listed(cnames)}`;
    const findings = cnameFindings(lookup, cnames, seen);
    return findings.length > 0 ? wrong(found, findings) : { leadsHere: true, findings, found };
  }
  if (addresses.length > 0) {
    const found = listed(addresses.map(({ ip }) => ip));
    if (addresses.some(({ isOurs }) => isOurs === false))
      return wrong(found, [foreignFinding(lookup, addresses, seen)]);
    if (addresses.some(({ isOurs }) => isOurs === null)) return { leadsHere: null, findings: [], found };
    return { leadsHere: true, findings: seen.isApex ? [] : [flattened(lookup, seen)], found };
  }
  const found = isNameMissing ? 'no such name' : 'no record';
  // A name that does not exist has no record of any type (RFC 8020), even when other questions failed.
  if (!isNameMissing && !lookup.every(isDecisive)) return { leadsHere: null, findings: [], found };
  const findings = doubled.length > 0 ? doubled : [missing(lookup, isNameMissing, seen)];
  return { leadsHere: false, findings, found };
}

/** Whether replies point here in any way. */
export function leadsTo(replies: Lookup, seen: Observation): boolean {
  const hasCname = valuesOf(replies, 'CNAME').includes(seen.platformHost);
  return hasCname || addressesIn(replies, seen).some(({ isOurs }) => isOurs === true);
}

interface Address {
  ip: string;
  isV6: boolean;
  /** Null = the platform's addresses could not be looked up. */
  isOurs: boolean | null;
}

/** The addresses in replies; with `name` only those at this name. */
export function addressesIn(replies: Lookup, { platform }: Observation, name?: string): Address[] {
  return ADDRESSES.flatMap((type) => {
    const known = platform.find(({ question }) => question.type === type);
    const ours = known && isDecisive(known) ? valuesOf([known], type) : null;
    const values = valuesOf(replies, type, name);
    return values.map((ip) => ({ ip, isV6: type === 'AAAA', isOurs: ours?.includes(ip) ?? null }));
  });
}

/** Empty = the CNAME is right. */
function cnameFindings(lookup: Lookup, cnames: readonly string[], seen: Observation): Diagnosis[] {
  const evidence = tellingReplies(lookup);
  if (seen.isApex) return [apexFinding(evidence, `, but there is one to ${listed(cnames)}`, seen)];
  const blocking = addressesIn(lookup, seen, seen.hostname).filter(({ isOurs }) => isOurs === false);
  return [
    ...(cnames.every((value) => value === seen.platformHost) ? [] : wrongCname(evidence, cnames, seen)),
    ...(blocking.length > 0 ? [conflict(evidence, blocking, seen)] : []),
  ];
}

function wrongCname(evidence: readonly Answer[], cnames: readonly string[], seen: Observation): Diagnosis[] {
  const { hostname, platformHost, host, chain } = seen;
  const target = listed(cnames);
  const appended = cnames.map((value) => zoneAppended(value, seen)).find((zone) => zone !== null);
  if (appended) {
    const cause = `The CNAME of ${hostname} points to ${target}: your DNS provider has appended ${appended} to the value.`;
    return [
      finding('VALUE_DOUBLED', evidence, { cause, remedy: `End the value with a dot: ${platformHost}.` }),
    ];
  }
  const dname = dnameAbove(evidence, hostname);
  const source = dname === null ? `The CNAME of ${hostname}` : `The DNAME record of ${shown(dname)}`;
  const wrong = finding('CNAME_WRONG_VALUE', evidence, {
    cause: `${source} ${dname === null ? 'points' : 'leads the name'} to ${target}, not to ${platformHost}.`,
    remedy: dname === null ? `Replace ${target} with ${platformHost}.` : withoutDname(dname, seen),
  });
  const { names, replies } = chain;
  // The resolver may have seen another first step than this server. A name below a DNAME can't have another target.
  if (!cnames.includes(names[1] ?? '') || dname !== null) return [wrong];
  const end = names.at(-1) ?? '';
  const remedy = `Point the CNAME of ${hostname} straight to ${platformHost}.`;
  if (names.indexOf(end) < names.length - 1) {
    const cause = `The CNAMEs of ${hostname} form a loop: ${listed(names, ' → ')}.`;
    return [finding('CNAME_LOOP', [...evidence, ...replies], { cause, remedy })];
  }
  const followed = host.filter(({ question }) => question.type !== 'CNAME');
  const gone = [...followed, ...replies].filter(isMissing);
  if (gone.length === 0) return [wrong];
  const cause = `The CNAMEs of ${hostname} end at ${shown(end)}, which does not exist.`;
  return [wrong, finding('TARGET_GONE', gone, { cause, remedy })];
}

/** The name or its parent that a provider appended to the platform's name; null = none. */
function zoneAppended(value: string, { hostname, platformHost }: Observation): string | null {
  if (!value.startsWith(`${platformHost}.`)) return null;
  const zone = value.slice(platformHost.length + 1);
  return hostname === zone || hostname.endsWith(`.${zone}`) ? zone : null;
}

function conflict(evidence: readonly Answer[], blocking: readonly Address[], seen: Observation): Diagnosis {
  const types = [...new Set(blocking.map(({ isV6 }) => (isV6 ? 'AAAA' : 'A')))].join(' and ');
  const values = listed(blocking.map(({ ip }) => ip));
  return finding('CONFLICTING_RECORD', evidence, {
    cause: `${seen.hostname} has ${types} records (${values}), which block the CNAME.`,
    remedy: `Delete these records, then add ${newRecord(seen)}.`,
  });
}

/** The finding for addresses of which some are not ours. */
function foreignFinding(lookup: Lookup, addresses: readonly Address[], seen: Observation): Diagnosis {
  const { hostname, platformHost, isApex, zone } = seen;
  const evidence = tellingReplies(lookup);
  const others = addresses.filter(({ isOurs }) => !isOurs);
  const ours = addresses.filter(({ isOurs }) => isOurs);
  const foreign = listed(others.map(({ ip }) => ip));
  if (ours.some(({ isV6 }) => !isV6) && others.every(({ isV6 }) => isV6)) {
    const cause = `${hostname} points here over IPv4 but to ${foreign} over IPv6, and certificate authorities prefer IPv6.`;
    return finding('AAAA_FOREIGN', evidence, { cause, remedy: `Delete the AAAA record with ${foreign}.` });
  }
  // Its proxy answers with addresses of both families, whatever the record has.
  const isProxied =
    zone?.nameServers.some((name) => name.endsWith(PROXYING_PROVIDER)) &&
    ours.length === 0 &&
    new Set(others.map(({ isV6 }) => isV6)).size === 2;
  if (isProxied) {
    const cause = `${hostname} points to ${foreign}, most likely a Cloudflare proxy that hides the real target.`;
    const remedy = `Switch the record of ${hostname} to "DNS only", and point it to ${platformHost}.`;
    return finding('PROXIED', evidence, { cause, remedy });
  }
  if (!isApex) return conflict(evidence, others, seen);
  if (ours.length > 0) {
    return finding('ADDRESS_MIXED', evidence, {
      cause: `${hostname} points to ${foreign} in addition to our ${listed(ours.map(({ ip }) => ip))}.`,
      remedy: `Keep ${newRecord(seen)}; delete the records with ${foreign}.`,
    });
  }
  const isInside = others.every(({ ip }) => isPrivateAddress(ip));
  const where = isInside ? `${foreign}, which nobody can reach from the Internet` : foreign;
  return finding('ADDRESS_ELSEWHERE', evidence, {
    cause: `${hostname} points to ${where}, not to ${platformHost}.`,
    remedy: `Delete these A and AAAA records, then add ${newRecord(seen)}.`,
  });
}

function flattened(lookup: Lookup, { hostname, platformHost }: Observation): Diagnosis {
  return finding('FLATTENED', tellingReplies(lookup), {
    severity: 'INFO',
    actor: 'NOBODY',
    cause: `The CNAME of ${hostname} is hidden, and its addresses are ours.`,
    remedy: `Nothing, if your DNS provider hides the CNAME to ${platformHost}; fixed addresses stop working when ours change.`,
  });
}

/** The finding for a name without any record that matters. */
function missing(lookup: Lookup, isNameMissing: boolean, seen: Observation): Diagnosis {
  const { hostname, isApex, isOrphan, registrable } = seen;
  const evidence = tellingReplies(lookup);
  if (isApex && !isNameMissing) return apexFinding(evidence, ', and it has no address', seen);
  const record = newRecord(seen);
  const problem = isNameMissing ? 'does not exist in DNS' : 'exists in DNS, but has no CNAME and no address';
  return finding('DNS_NO_RECORD', evidence, {
    cause: `${hostname} ${problem}.`,
    remedy: isOrphan
      ? `Check that ${registrable} is registered and has name servers, then add ${record}.`
      : `Add ${record}.`,
  });
}

function apexFinding(evidence: readonly Answer[], detail: string, seen: Observation): Diagnosis {
  const { hostname } = seen;
  return finding('APEX_NEEDS_ALIAS', evidence, {
    cause: `${hostname} is the apex of a zone and can't have a CNAME${detail}.`,
    remedy: `Add ${newRecord(seen)}; if your DNS provider does not support it, add www.${hostname} here and redirect ${hostname} to it.`,
  });
}

/** The finding for a record created at the name with the zone appended. An answer from a wildcard proves nothing. */
function doubledFinding({ doubled, hostname, host }: Observation): Diagnosis[] {
  if (!doubled || !isDecisive(doubled.below)) return [];
  const { name, zone, there, below } = doubled;
  const content = (reply: Answer) =>
    [...valuesOf([reply], 'CNAME', reply.question.name), ...valuesOf([reply], 'A')].sort().join();
  if (content(there) === '' || content(there) === content(below)) return [];
  const label = hostname.endsWith(`.${zone}`) ? hostname.slice(0, -zone.length - 1) : '@';
  return [
    finding('NAME_DOUBLED', [there, ...tellingReplies(host)], {
      cause: `The record was created as ${name}, which contains ${zone} twice.`,
      remedy: `Your DNS provider appends ${zone} automatically: enter only ${label} as the name.`,
    }),
  ];
}
