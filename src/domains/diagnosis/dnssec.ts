import { type Answer, DnsUnreachable, isDecisive, valuesOf } from '../dns/dns-message.js';
import { extendedErrorName, isAboutDnssec, isAboutExpiry } from '../dns/extended-error.js';
import type { Diagnosis } from './diagnosis.js';
import { finding } from './finding.js';
import { isRefusal, type Observation } from './observation.js';

/**
 * The finding for a question that the resolver answers only without DNSSEC validation. A SERVFAIL has many causes: it must
 * fail twice, and the zone must have a DS record. While that is unknown, an extended error about DNSSEC decides. A slow
 * resolver is silent about valid zones too: silence alone counts only when the signatures have expired. D-248.
 */
export function brokenDnssec(seen: Observation): Diagnosis[] {
  const { host, hostname, validation } = seen;
  // With a CNAME, the zone of the target is the one that fails. A resolver refuses a CNAME loop either way.
  if (validation === null || valuesOf(host, 'CNAME', hostname).length > 0) return [];
  const { unchecked, checked, ds } = validation;
  const failed = host.filter(isFailed);
  const isFailing = failed.some(({ question }) => question.type === unchecked.question.type);
  if (!isFailing || !isDecisive(unchecked) || !isFailed(checked)) return [];
  const replies = [...failed, checked];
  if (!replies.some(isRefusal) && signaturesOf(seen).expiredOn === null) return [];
  const isSigned = valuesOf([ds], 'DS').length > 0;
  // Without a DS record nobody validates the zone (RFC 4035 §5.2).
  const isUnsigned = !isSigned && isDecisive(ds) && ds.authority.some(({ type }) => type === 'SOA');
  const error = replies.find(({ extendedError }) => isAboutDnssec(extendedError))?.extendedError ?? null;
  if (isUnsigned || (!isSigned && error === null)) return [];
  const reason = error === null ? '' : ` (a resolver says: ${extendedErrorName(error)})`;
  const words = wordsFor(seen, { zone: ds.question.name, reason, isSigned });
  return [finding('DNSSEC_BROKEN', [...failed, unchecked, ...(isSigned ? [ds] : [])], words)];
}

function isFailed(reply: Answer): boolean {
  return !isDecisive(reply) && !(reply instanceof DnsUnreachable && reply.reason === 'not asked');
}

/** `expiredOn`: the day on which the last one ended; null = none has, or there are none. */
function signaturesOf({ validation, atMs }: Observation): { areMissing: boolean; expiredOn: string | null } {
  const unchecked = validation?.unchecked;
  const ends = [...(unchecked?.records ?? []), ...(unchecked?.authority ?? [])]
    .filter(({ type }) => type === 'RRSIG')
    .map(({ value }) => value.split(' ')[4] ?? '');
  const lastEnd = ends.sort().at(-1);
  const now = new Date(atMs).toISOString().replace(/\D/g, '').slice(0, 14);
  const isPast = lastEnd !== undefined && lastEnd < now;
  return {
    areMissing: ends.length === 0,
    expiredOn: isPast ? lastEnd.replace(/^(....)(..)(..).*/, '$1-$2-$3') : null,
  };
}

/** The DS record is the owner's, the signatures are the DNS provider's. Codes differ with the resolver's settings. */
function wordsFor(
  seen: Observation,
  { zone, reason, isSigned }: { zone: string; reason: string; isSigned: boolean },
): Parameters<typeof finding>[2] {
  const { host, hostname } = seen;
  const { areMissing, expiredOn } = signaturesOf(seen);
  if (expiredOn !== null || host.some(({ extendedError }) => isAboutExpiry(extendedError))) {
    const when = expiredOn === null ? '' : ` on ${expiredOn}`;
    return {
      actor: 'DNS_PROVIDER',
      cause: `The DNSSEC signatures of ${zone} expired${when}.`,
      remedy: `Ask your DNS provider to sign ${zone} again.`,
    };
  }
  // The zone's other answers are valid, so its DS record is right.
  if (host.some((reply) => reply.question.type === 'CNAME' && isDecisive(reply))) {
    return {
      actor: 'DNS_PROVIDER',
      cause: `The addresses of ${hostname} fail DNSSEC validation${reason}, its other answers do not: its ALIAS or ANAME is probably not signed.`,
      remedy: `Ask your DNS provider to sign the addresses of ${hostname}; if it can't, end DNSSEC for ${zone}.`,
    };
  }
  if (isSigned && areMissing) {
    return {
      cause: `${zone} has a DS record at its registrar, but its answers have no DNSSEC signatures${reason}.`,
      remedy: `Remove the DS record of ${zone} at your registrar.`,
    };
  }
  return {
    cause: `The answers for ${zone} fail DNSSEC validation${reason}: its DS record or its signatures are wrong.`,
    remedy: `Correct or remove the DS record of ${zone} at your registrar; if it is right, ask your DNS provider to sign the zone again.`,
  };
}
