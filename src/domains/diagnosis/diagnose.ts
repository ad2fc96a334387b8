import type { Diagnosis } from './diagnosis.js';
import { shown } from './evidence.js';
import { diagnosisOf, type Finding, forgottenAtMs } from './finding.js';
import { type Aim, addressSet, type Judgement, judge } from './judgement.js';
import type { Lookup } from './lookup.js';
import type { Observation } from './observation.js';
import { ownershipVerdict } from './ownership-findings.js';
import { inWords, leadsTo, recordFindings, tellingReplies } from './record-findings.js';
import {
  authoritative,
  delegationFindings,
  dnssecFindings,
  failingServerFindings,
  resolverFindings,
} from './server-findings.js';

export interface Verdict {
  /** Null = DNS could not be asked. */
  leadsHere: boolean | null;
  /**
   * False = the required proof is missing, or another project's proof is there. Null = no proof is required, or DNS could
   * not be asked.
   */
  isOwnershipProved: boolean | null;
  isUnderWildcard: boolean;
  diagnoses: Diagnosis[];
}

const SEVERITIES = ['ERROR', 'WARNING', 'INFO'];

/** The verdict for an observation, with errors first. Pure. */
export function diagnose(seen: Observation): Verdict {
  const aim = aimOf(seen);
  const { leadsHere, findings } = whereItLeads(seen, aim);
  const ownership = ownershipVerdict(seen);
  const isWild = leadsTo(seen.sibling, aim);
  const parent = seen.sibling.name.slice(seen.sibling.name.indexOf('.') + 1);
  const wildcard: Finding[] = isWild
    ? [{ text: 'WILDCARD_DNS', facts: { about: parent }, evidence: tellingReplies(seen.sibling) }]
    : [];
  const all = [...findings, ...delegationFindings(seen), ...ownership.findings, ...wildcard];
  const diagnoses = all.map((finding) => diagnosisOf(finding, seen));
  return {
    leadsHere,
    isOwnershipProved: ownership.isProved,
    isUnderWildcard: isWild && parent !== seen.hostname,
    diagnoses: diagnoses.sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity)),
  };
}

interface Leading {
  leadsHere: boolean | null;
  findings: Finding[];
}

/**
 * The zone's name servers decide, because an answer of the resolver may be an hour old. Only authoritative answers count.
 * When no name server can be asked, the resolver decides.
 */
function whereItLeads(seen: Observation, aim: Aim): Leading {
  const cached = judge(seen.host, aim);
  const servers = seen.nameServers.map(({ name, lookup }) => {
    const own = authoritative(lookup);
    return { name, lookup: own, judgement: judge(own, aim) };
  });
  const right = servers.filter(({ judgement }) => judgement.leadsHere === true);
  const wrong = servers.filter(({ judgement }) => judgement.leadsHere === false);
  const isDecided = right.length + wrong.length > 0 || cached.leadsHere !== null;

  const { leadsHere, findings } = decide(seen, aim, { cached, right, wrong });
  const dnssec = dnssecFindings(seen);
  const failing = failingServerFindings(seen, !isDecided);
  // An address family is refused while the other is right. The certificate authority may fail on the refused one.
  const isPartlyRefused = cached.leadsHere === true && cached.cnames.length === 0;
  const refused =
    dnssec.length === 0 &&
    failing.length === 0 &&
    (isPartlyRefused || (cached.leadsHere === null && isDecided))
      ? resolverFindings(seen).filter(({ text }) => text === 'NAMESERVER_FAILING')
      : [];
  return {
    leadsHere: dnssec.length > 0 ? false : leadsHere,
    findings: [
      ...dnssec,
      ...findings.filter(
        ({ text }) => !(text === 'NAMESERVER_FAILING' && dnssec.length + failing.length > 0),
      ),
      ...failing,
      ...refused.map((finding) => ({ ...finding, severity: 'WARNING' as const })),
      ...platformFindings(seen),
    ],
  };
}

interface ServerJudgement {
  name: string;
  lookup: Lookup;
  judgement: Judgement;
}

interface ServerJudgements {
  cached: Judgement;
  right: readonly ServerJudgement[];
  wrong: readonly ServerJudgement[];
}

function decide(seen: Observation, aim: Aim, { cached, right, wrong }: ServerJudgements): Leading {
  const [firstWrong] = wrong;
  const [firstRight] = right;
  if (firstWrong && firstRight) {
    const total = right.length + wrong.length;
    const names = wrong.map(({ name }) => shown(name)).join(', ');
    const about = `${wrong.length} of ${total} name servers of ${seen.zone} (${names})`;
    const evidence = [...wrong, firstRight].flatMap(({ lookup }) => tellingReplies(lookup));
    const old = wrong.flatMap(({ lookup }) => tellingReplies(lookup));
    const facts = { about, seen: inWords(firstWrong.judgement) };
    const retryAtMs = forgottenAtMs(old, seen.atMs);
    return { leadsHere: false, findings: [{ text: 'NOT_PROPAGATED', facts, evidence, retryAtMs }] };
  }
  if (firstRight) {
    const findings = recordFindings(seen, aim, firstRight.lookup);
    if (cached.leadsHere !== false) return { leadsHere: true, findings };
    const old = tellingReplies(seen.host);
    const evidence = [...old, ...tellingReplies(firstRight.lookup)];
    const about =
      right.length === 1
        ? `The name server ${shown(firstRight.name)} is right`
        : `All ${right.length} name servers of ${seen.zone} are right`;
    const facts = { about, seen: inWords(cached) };
    const retryAtMs = forgottenAtMs(old, seen.atMs);
    return {
      leadsHere: true,
      findings: [...findings, { text: 'CACHES_ARE_OLD', facts, evidence, retryAtMs }],
    };
  }
  if (firstWrong) return { leadsHere: false, findings: recordFindings(seen, aim, firstWrong.lookup) };
  const { leadsHere } = cached;
  if (leadsHere !== null) return { leadsHere, findings: recordFindings(seen, aim, seen.host) };
  return { leadsHere: null, findings: resolverFindings(seen) };
}

function aimOf({ platformHost, platform, isApex, zones, hostname }: Observation): Aim {
  const ours = { a: addressSet(platform, 'a'), aaaa: addressSet(platform, 'aaaa') };
  // When the platform itself has no addresses, none can be called foreign: our fault must not look like the owner's.
  const isComparable = !(isApex && isPlatformGone(ours));
  return {
    platformHost,
    isApex,
    zones: [...zones, hostname],
    ours: isComparable ? ours : { a: null, aaaa: null },
  };
}

function isPlatformGone({ a, aaaa }: Aim['ours']): boolean {
  return a?.size === 0 && aaaa?.size === 0;
}

function platformFindings({ platform, isApex }: Observation): Finding[] {
  const ours = { a: addressSet(platform, 'a'), aaaa: addressSet(platform, 'aaaa') };
  if (!isPlatformGone(ours)) return [];
  const evidence = [platform.a, platform.aaaa];
  return [{ text: 'PLATFORM_GONE', evidence, severity: isApex ? 'ERROR' : 'WARNING' }];
}
