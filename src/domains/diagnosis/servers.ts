import { type Answer, DnsUnreachable, isDecisive, valuesOf } from '../dns/dns-message.js';
import { type Diagnosis, finding, listed, shown, timeInWords } from './diagnosis.js';
import { isAuthority, isRefusal, type Observation } from './observation.js';

const ASK_AGAIN_MS = 30_000;
const OUR_REPAIR = { actor: 'PLATFORM', remedy: 'Nothing: we must repair it.' } as const;

/** The finding for name servers with bad answers: SERVFAIL, REFUSED, or without authority for their own zone. */
export function failingServers({ nameServers, zone }: Observation): Diagnosis[] {
  const isBad = (reply: Answer) => !isAuthority(reply) && !(reply instanceof DnsUnreachable);
  const bad = nameServers.filter(({ lookup }) => lookup.some(isBad));
  const replies = bad.flatMap(({ lookup }) => lookup.filter(isBad));
  const [first] = replies;
  if (!first) return [];
  const names = bad.map(({ name }) => shown(name)).join(', ');
  const said = isDecisive(first)
    ? 'answer without authority for the zone'
    : `answer ${first.question.type} questions with ${first.rcode}`;
  const servers = `${bad.length} of ${nameServers.length} name servers of ${zone?.name} (${names})`;
  return [failing(`${servers} ${said}`, replies)];
}

/** The finding for a parent zone that names other servers than the zone itself, or servers that do not have the zone. */
export function wrongDelegation({ delegation, zone }: Observation): Diagnosis[] {
  if (!delegation) return [];
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

/** The finding for an answer that the resolver gives only without validation. */
export function brokenDnssec({ host, hostname, unvalidated, zone, registrable }: Observation): Diagnosis[] {
  // With a CNAME, the zone of the target is the one that fails. A resolver refuses a CNAME loop either way.
  const hasCname = valuesOf(host, 'CNAME', hostname).length > 0;
  if (unvalidated === null || !isDecisive(unvalidated) || hasCname) return [];
  const refused = host.filter(isRefusal);
  const reason = refused.find(({ extendedError }) => extendedError !== null)?.extendedError;
  const signed = zone?.name ?? registrable;
  return [
    finding('DNSSEC_BROKEN', [...refused, unvalidated], {
      cause: `The answers for ${signed} fail DNSSEC validation${reason ? ` (resolver: ${shown(reason)})` : ''}.`,
      remedy: `Correct or remove the DS record of ${signed} at your registrar.`,
    }),
  ];
}

export function refusedQuestions({ host, hostname }: Observation): Diagnosis[] {
  const refused = host.filter(isRefusal);
  if (!refused[0]) return [];
  const { rcode, extendedError } = refused[0];
  const said = `${rcode}${extendedError ? ` (${shown(extendedError)})` : ''}`;
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
