import { DnsUnreachable } from '../../dns/dns-unreachable.js';
import type { DiagnosisCode } from './diagnosis.js';
import type { Reply } from './evidence.js';
import type { Lookup } from './lookup.js';
import { isProxyAddress } from './proxy-networks.js';

/** The required target of a name. Null = our own addresses could not be looked up. */
export interface Aim {
  platformHost: string;
  ours: { a: ReadonlySet<string> | null; aaaa: ReadonlySet<string> | null };
  isApex: boolean;
  /** Zones that a provider may append to a value. */
  zones: readonly string[];
}

/** The meaning of a server's answers. `leadsHere`: null = the answers do not decide it. */
export interface Judgement {
  leadsHere: boolean | null;
  codes: DiagnosisCode[];
  cnames: string[];
  /** Our addresses, and all others, including those that are perhaps ours. */
  ours: string[];
  foreign: string[];
  doesNotExist: boolean;
}

interface Addresses {
  ours: string[];
  foreign: string[];
  /** Perhaps ours: our own addresses of that family could not be looked up. */
  unknown: string[];
}

/**
 * Whether a lookup points to the platform. A subdomain needs a CNAME to exactly the value shown (SPEC 4, 8). An apex needs
 * addresses that all belong to the platform (SPEC 5). A part of the platform's addresses is enough, because providers
 * rotate them, and a family may be missing. A subdomain without a visible CNAME is judged like an apex, because providers
 * flatten CNAMEs.
 */
export function judge(lookup: Lookup, aim: Aim): Judgement {
  const cnames = cnamesOf(lookup);
  const a = addressesOf(lookup, 'a', aim);
  const aaaa = addressesOf(lookup, 'aaaa', aim);
  const seen = {
    cnames,
    ours: [...a.ours, ...aaaa.ours],
    foreign: [...a.foreign, ...aaaa.foreign, ...a.unknown, ...aaaa.unknown],
    doesNotExist: [lookup.cname, lookup.a, lookup.aaaa].some(
      (reply) =>
        !(reply instanceof DnsUnreachable) && reply.rcode === 'NXDOMAIN' && reply.records.length === 0,
    ),
  };
  const verdict = (leadsHere: boolean | null, ...codes: DiagnosisCode[]): Judgement => ({
    leadsHere,
    codes,
    ...seen,
  });

  if (cnames.length > 0) {
    if (aim.isApex) return verdict(false, 'APEX_NEEDS_ALIAS');
    const blocking: DiagnosisCode[] = blockingAddresses(lookup, aim).length > 0 ? ['CONFLICTING_RECORD'] : [];
    if (cnames.every((value) => value === aim.platformHost))
      return verdict(blocking.length === 0, ...blocking);
    const isDoubled = cnames.some((value) =>
      aim.zones.some((zone) => value === `${aim.platformHost}.${zone}`),
    );
    return verdict(false, isDoubled ? 'VALUE_DOUBLED' : 'CNAME_WRONG_VALUE', ...blocking);
  }
  if (seen.ours.length + seen.foreign.length === 0) {
    // A name that does not exist has no record of any type (RFC 8020), even when other questions failed.
    const isTold = seen.doesNotExist || [lookup.cname, lookup.a, lookup.aaaa].every(isDecisive);
    if (!isTold) return verdict(null);
    return verdict(false, aim.isApex && !seen.doesNotExist ? 'APEX_NEEDS_ALIAS' : 'DNS_NO_RECORD');
  }
  if (a.foreign.length + aaaa.foreign.length > 0) return verdict(false, foreignCode(a, aaaa, aim));
  if (a.unknown.length + aaaa.unknown.length > 0) return verdict(null);
  return aim.isApex ? verdict(true) : verdict(true, 'FLATTENED');
}

/** NOERROR and NXDOMAIN tell which records exist; SERVFAIL, REFUSED and other codes tell nothing. */
export function isDecisive(reply: Reply): boolean {
  return !(reply instanceof DnsUnreachable) && ['NOERROR', 'NXDOMAIN'].includes(reply.rcode);
}

/** The first step of the chain, from the answer to any of the questions. */
export function cnamesOf({ name, cname, a, aaaa }: Lookup): string[] {
  return valuesOf([cname, a, aaaa], (type, owner) => type === 'CNAME' && owner === name);
}

/** Every target in the chain, as far as the server followed it. */
export function targetsOf({ cname, a, aaaa }: Lookup): string[] {
  return valuesOf([cname, a, aaaa], (type) => type === 'CNAME');
}

/** Null = no decisive answer. */
export function addressSet(lookup: Lookup, family: 'a' | 'aaaa'): ReadonlySet<string> | null {
  const reply = lookup[family];
  if (!isDecisive(reply)) return null;
  return new Set(valuesOf([reply], (type) => type === family.toUpperCase()));
}

/** Foreign addresses at the name itself, next to its CNAME. */
export function blockingAddresses(lookup: Lookup, aim: Aim): string[] {
  return (['a', 'aaaa'] as const).flatMap((family) => {
    const values = valuesOf(
      [lookup[family]],
      (type, owner) => type === family.toUpperCase() && owner === lookup.name,
    );
    return values.filter((value) => aim.ours[family]?.has(value) === false);
  });
}

function addressesOf(lookup: Lookup, family: 'a' | 'aaaa', aim: Aim): Addresses {
  const known = aim.ours[family];
  const values = [...(addressSet(lookup, family) ?? [])];
  if (known === null) return { ours: [], foreign: [], unknown: values };
  return {
    ours: values.filter((value) => known.has(value)),
    foreign: values.filter((value) => !known.has(value)),
    unknown: [],
  };
}

function foreignCode(a: Addresses, aaaa: Addresses, { isApex }: Aim): DiagnosisCode {
  const hasOurs = a.ours.length + aaaa.ours.length > 0;
  if (a.ours.length > 0 && a.foreign.length === 0) return 'AAAA_FOREIGN';
  if (!hasOurs && [...a.foreign, ...aaaa.foreign].every(isProxyAddress)) return 'PROXIED';
  if (!isApex) return 'CONFLICTING_RECORD';
  return hasOurs ? 'ADDRESS_MIXED' : 'ADDRESS_ELSEWHERE';
}

function valuesOf(replies: readonly Reply[], isWanted: (type: string, owner: string) => boolean): string[] {
  const records = replies.flatMap((reply) => (reply instanceof DnsUnreachable ? [] : reply.records));
  return [...new Set(records.filter(({ type, name }) => isWanted(type, name)).map(({ value }) => value))];
}
