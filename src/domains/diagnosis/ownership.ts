import { type Answer, DnsUnreachable, isDecisive, valuesOf } from '../dns/dns-message.js';
import type { Diagnosis } from './diagnosis.js';
import { isProof } from './dns-records.js';
import { finding, shown } from './finding.js';
import { isAuthority, type Observation } from './observation.js';
import { lackingOwnRecord } from './own-record.js';
import { failing, unreachable } from './servers.js';

const MAX_TEXTS = 5;

/**
 * Whether the TXT record exists; null = as `Inspection.isOwnershipProved`. A name server may have it before caches do.
 * `isExplained`: another finding says why DNS gives no answer.
 */
export function ownershipVerdict(
  seen: Observation,
  isExplained: boolean,
): {
  isProved: boolean | null;
  findings: Diagnosis[];
} {
  const { hostname, ownership, atMs } = seen;
  if (ownership === null) return { isProved: null, findings: [] };
  const { name, value, txt, atHost, beside, isAssumed = false } = ownership;
  const replies = repliesThatCount(seen, txt);
  const texts = [...new Set(replies.flatMap(textsOf))];
  if (texts.includes(value)) return { isProved: true, findings: [] };
  if (isAssumed) {
    // Another project's proof counts, because only somebody who controls the name's DNS can create it.
    const evidence = replies.filter((reply) => textsOf(reply).some(isProof));
    if (evidence.length === 0) return { isProved: null, findings: [] };
    const cause = `Another project requested ${hostname}, and the TXT record at ${name} proves that project's ownership.`;
    const remedy = `To serve the name from this project, replace the value of the TXT record at ${name} with ${value}.`;
    return { isProved: false, findings: [finding('OWNERSHIP_TXT_MISMATCH', evidence, { cause, remedy })] };
  }
  if (replies.length === 0) {
    if (isExplained) return { isProved: null, findings: [] };
    const unknown =
      txt instanceof DnsUnreachable
        ? unreachable(name, [txt], atMs)
        : failing(`The name servers of ${name} answer TXT questions with ${txt.rcode}`, [txt]);
    return { isProved: null, findings: [unknown] };
  }
  const lacking = lackingOwnRecord(seen);
  const inTurn = (what: string) =>
    lacking ? `First ${lacking.first}. Then ${what}` : `${what.charAt(0).toUpperCase()}${what.slice(1)}`;
  const wild = textsOf(beside);
  const own = lacking ? [] : texts.filter((text) => !wild.includes(text));
  if (own.length > 0) {
    const others = own.slice(0, MAX_TEXTS).map((text) => JSON.stringify(shown(text)));
    const cause = `The TXT record at ${name} has another value: ${others.join(', ')}.`;
    const remedy = inTurn(`replace its value with ${value}.`);
    return { isProved: false, findings: [finding('OWNERSHIP_TXT_MISMATCH', replies, { cause, remedy })] };
  }
  const isAtHost = textsOf(atHost).includes(value);
  const instead = texts.length > 0 ? ': a wildcard or DNAME record answers for it' : '';
  const missing = finding('OWNERSHIP_TXT_MISSING', isAtHost ? [...replies, atHost] : replies, {
    cause: `There is no TXT record at ${name}${isAtHost ? `: it is on ${hostname} itself` : instead}.`,
    remedy: inTurn(`add exactly this TXT record: name ${name} (not ${hostname}), value ${value}.`),
  });
  return { isProved: false, findings: [missing] };
}

/** The proofs of all projects at the TXT record's name. */
export function proofsOf(seen: Observation): string[] {
  const { ownership, nameServers, zone, isZoneReferred, isOrphan, isCutShort } = seen;
  if (ownership === null) return [];
  // Other projects can use up the questions to a server, and the process's time. A cache's old proof must not count then.
  const isUnsure =
    isCutShort ||
    isZoneReferred ||
    (zone === null && !isOrphan) ||
    nameServers.some(({ txt }) => txt instanceof DnsUnreachable && txt.reason === 'not asked');
  const replies = repliesThatCount(seen, isUnsure ? null : ownership.txt);
  return replies.flatMap(textsOf).filter(isProof);
}

/**
 * The answers of the zone's name servers, because a cache keeps a deleted proof; the resolver's when none of them decides.
 * A name server does not follow a CNAME to another zone.
 */
function repliesThatCount({ nameServers, isZoneReferred }: Observation, cached: Answer | null): Answer[] {
  const direct = isZoneReferred ? [] : nameServers.flatMap(({ txt }) => txt ?? []);
  const own = direct.filter((reply) => isAuthority(reply) && valuesOf([reply], 'CNAME').length === 0);
  return own.length > 0 || cached === null ? own : [cached].filter(isDecisive);
}

/** The TXT records of a reply, without the typed quotes that some providers keep. */
function textsOf(reply: Answer): string[] {
  const texts = valuesOf([reply], 'TXT').map((value) => value.trim());
  return texts.map((text) => /^"(.*)"$/.exec(text)?.[1] ?? text);
}
