import { withTimeLimit } from '../../ground/kernel/deadline.js';
import { DnsUnreachable, isDecisive } from '../dns/dns-message.js';
import { type Diagnosis, type DiagnosisCode, isBlocking } from './diagnosis.js';
import { brokenDnssec } from './dnssec.js';
import { finding, forgottenAtMs, shown, timeInWords } from './finding.js';
import { addressesIn, type Judgement, judge, leadsTo } from './judge.js';
import {
  type Dns,
  isAuthority,
  type Lookup,
  type Observation,
  observe,
  type Subject,
  tellingReplies,
  wildcardParentOf,
} from './observation.js';
import { lackingOwnRecord } from './own-record.js';
import { ownershipVerdict, proofsOf } from './ownership.js';
import {
  failingServers,
  platformGone,
  refusedQuestions,
  silentResolver,
  wrongDelegation,
} from './servers.js';

/** The result of a check of a host name. */
export interface Inspection {
  /** Whether the records are those shown to the owner. Null = DNS could not be asked. */
  leadsHere: boolean | null;
  /** Whether any record brings visitors of the name here. Null = DNS could not be asked. */
  isReachingUs: boolean | null;
  /**
   * False = the required proof is missing, or another project's proof is there. Null = no proof is required, or DNS could
   * not be asked.
   */
  isOwnershipProved: boolean | null;
  /** The proofs of all projects that the name servers have. A cache decides only if all were asked and none has answered. */
  proofs: string[];
  /** Whether a wildcard record next to the name points here. Null = DNS could not be asked. */
  isUnderWildcard: boolean | null;
  isApex: boolean;
  diagnoses: Diagnosis[];
}

const SEVERITIES = ['ERROR', 'WARNING', 'INFO'];
/** Any of these also explains why the TXT record is unknown. */
const UNANSWERED: ReadonlySet<DiagnosisCode> = new Set([
  'NAMESERVER_FAILING',
  'DNSSEC_BROKEN',
  'DNS_UNREACHABLE',
]);
/** Below the 1.5 s in which the caller must have the answer, even when DNS hangs. */
const INSPECTION_MS = 1_300;

/**
 * Whether the name points here, and if not, why. Answers within 1.5 s. Only resolvers and name servers get packets, never
 * the host.
 */
export async function inspect(dns: Dns, subject: Subject, signal?: AbortSignal): Promise<Inspection> {
  return diagnose(await withTimeLimit(INSPECTION_MS, signal, (end) => observe(dns, subject, end)));
}

/** The findings of an observation, with errors first. Pure. */
export function diagnose(seen: Observation): Inspection {
  const { host, sibling, hostname } = seen;
  const { leadsHere, findings } = whereItLeads(seen);
  const isExplained = findings.some((found) => isBlocking(found) && UNANSWERED.has(found.code));
  const ownership = ownershipVerdict(seen, isExplained);
  const isWild = isReaching(sibling, seen);
  const parent = wildcardParentOf(hostname);
  const wildcard = finding('WILDCARD_DNS', tellingReplies(sibling), {
    severity: 'WARNING',
    cause: `Any name below ${parent} points here, even names that you have not added.`,
    remedy: `Replace the record *.${parent} with one record for each name.`,
  });
  const isTextMissing = ownership.isProved === false && leadsHere !== false;
  const lacking = isTextMissing ? lackingOwnRecord(seen) : null;
  const all = [
    ...findings,
    ...wrongDelegation(seen),
    ...ownership.findings,
    ...(lacking ? [lacking.finding] : []),
    ...(isWild ? [wildcard] : []),
  ];
  return {
    leadsHere,
    isReachingUs: isReaching(host, seen),
    isOwnershipProved: ownership.isProved,
    proofs: proofsOf(seen),
    isUnderWildcard: parent === hostname ? false : isWild,
    isApex: seen.isApex,
    diagnoses: all.sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity)),
  };
}

/** Whether the records point here in any way. Null = they may: an answer is missing. */
function isReaching(lookup: Lookup, seen: Observation): boolean | null {
  if (leadsTo(lookup, seen)) return true;
  return [...lookup, ...seen.platform].every(isDecisive) ? false : null;
}

type Leading = Pick<Judgement, 'leadsHere' | 'findings'>;

/**
 * The zone's name servers decide, because an answer of the resolver may be an hour old. Only authoritative answers count.
 * When no name server can be asked, the resolver decides.
 */
function whereItLeads(seen: Observation): Leading {
  const isPlatformGone = seen.platform.every(isDecisive) && addressesIn(seen.platform, seen).length === 0;
  // When the platform itself has no addresses, none can be called foreign: our fault must not look like the owner's.
  const judged = seen.isApex && isPlatformGone ? { ...seen, platform: [] } : seen;
  const cached = judge(seen.host, judged);
  const servers = seen.nameServers.map(({ name, lookup }) => {
    const own = authoritative(lookup);
    return { name, lookup: own, ...judge(own, judged) };
  });
  const decided = servers.filter(({ leadsHere }) => leadsHere !== null);
  const dnssec = brokenDnssec(seen);
  const failing = failingServers(seen);
  const refused = refusedQuestions(seen);
  // The other two findings explain a refusal.
  const refusal = dnssec.length + failing.length > 0 ? [] : refused;
  const { leadsHere, findings } = decided.length > 0 ? ofServers(decided, cached, seen) : cached;
  // An address family is refused while the other is right. The certificate authority may fail on the refused one.
  const isPartlyRefused =
    cached.leadsHere === null || (cached.leadsHere && !cached.found.startsWith('CNAME'));
  const hasNoAnswer = refused.length + dnssec.length > 0;
  const silent = hasNoAnswer ? [] : silentResolver(failing.length > 0 ? { ...seen, host: [] } : seen);
  const faults =
    leadsHere === null
      ? [...refusal, ...silent, ...failing]
      : [...failing, ...(isPartlyRefused ? refusal : [])].map(asWarning);
  const gone = isPlatformGone ? [platformGone(seen)] : [];
  return {
    leadsHere: dnssec.length > 0 ? false : leadsHere,
    findings: [...dnssec, ...findings, ...faults, ...gone],
  };
}

const asWarning = (found: Diagnosis): Diagnosis => ({ ...found, severity: 'WARNING' });

/** The lookup without the records of replies that lack authority. A failed reply keeps its reason. */
function authoritative(lookup: Lookup): Lookup {
  return lookup.map((reply) => {
    if (isAuthority(reply) || reply instanceof DnsUnreachable) return reply;
    const { server, question, atMs } = reply;
    return isDecisive(reply)
      ? new DnsUnreachable(server, question, 'no authority', atMs)
      : { ...reply, records: [] };
  });
}

type ServerJudgement = Judgement & { name: string; lookup: Lookup };

/** The common judgement of the name servers, unless some of them or caches have an old answer. */
function ofServers(decided: readonly ServerJudgement[], cached: Judgement, seen: Observation): Leading {
  const { zone, atMs, host } = seen;
  const right = decided.filter(({ leadsHere }) => leadsHere);
  const wrong = decided.filter(({ leadsHere }) => !leadsHere);
  const [firstRight] = right;
  const [firstWrong] = wrong;
  if (!firstRight) return { leadsHere: false, findings: firstWrong?.findings ?? [] };
  const old = firstWrong ? wrong.flatMap(({ lookup }) => tellingReplies(lookup)) : tellingReplies(host);
  const evidence = [...old, ...tellingReplies(firstRight.lookup)];
  const retryAtMs = forgottenAtMs(old, atMs);
  const time = retryAtMs && timeInWords(retryAtMs, atMs);
  if (firstWrong) {
    const names = wrong.map(({ name }) => shown(name)).join(', ');
    const differing = finding('NOT_PROPAGATED', evidence, {
      actor: 'NOBODY',
      cause: `${wrong.length} of ${decided.length} name servers of ${zone?.name} (${names}) still give an old answer: ${firstWrong.found}.`,
      remedy: `Wait${time ? ` until ${time}` : ''}; if they still differ then, ask your DNS provider why.`,
      retryAtMs,
    });
    return { leadsHere: false, findings: [differing] };
  }
  if (cached.leadsHere !== false) return firstRight;
  const servers =
    right.length === 1
      ? `The name server ${shown(firstRight.name)} is right`
      : `All ${right.length} name servers of ${zone?.name} are right`;
  const outdated = finding('NOT_PROPAGATED', evidence, {
    severity: 'INFO',
    actor: 'NOBODY',
    cause: `${servers}, but caches still give an old answer: ${cached.found}.`,
    remedy: `Nothing: caches have the new answer${time ? ` by ${time}` : ' soon'}.`,
    retryAtMs,
  });
  return { leadsHere: true, findings: [...firstRight.findings, outdated] };
}
