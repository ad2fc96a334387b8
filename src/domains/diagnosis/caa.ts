import { type Answer, isDecisive, type Question, type ResourceRecord } from '../dns/dns-message.js';
import { type CaaObjection, type CaaRule, evaluateCaa } from './caa-policy.js';
import type { Diagnosis, Evidence } from './diagnosis.js';
import { evidenceOf, listed, shown } from './evidence.js';

export interface CaaCheck extends CaaRule {
  /** The target of custom domains. The platform, not the owner, changes CAA records there. */
  platformHost: string;
  now: () => number;
}

const MOST_NAMED = 5;
/** A failed lookup blocks issuance, because the CA must treat it as a refusal. */
const LOOKUP_FAILED = { code: 'CAA_LOOKUP_FAILED', severity: 'ERROR', retryAtMs: null } as const;

/**
 * The CAA records that forbid the certificate authority to issue for `hostname`, as diagnoses; empty = issuing is allowed.
 * `ask` queries a recursive resolver, which follows CNAMEs; it rejects when there is no answer.
 * The search climbs from the name to its parents, without the root; the first record set decides. Source: RFC 8659 §3.
 */
export async function checkCaa(
  ask: (question: Question) => Promise<Answer>,
  hostname: string,
  check: CaaCheck,
): Promise<Diagnosis[]> {
  const labels = hostname.split('.');
  for (const name of labels.map((_, index) => labels.slice(index).join('.'))) {
    let answer: Answer;
    try {
      answer = await ask({ name, type: 'CAA' });
    } catch (error) {
      return [noAnswer(name, error, check.now())];
    }
    const found = answer.records.filter(({ type }) => type === 'CAA');
    if (!isDecisive(answer) || found.some(({ caa }) => caa === null)) return [badAnswer(answer)];
    if (found.length > 0) return findings(answer, found, check);
  }
  return [];
}

function findings(answer: Answer, found: readonly ResourceRecord[], check: CaaCheck): Diagnosis[] {
  const { platformHost } = check;
  const asked = answer.question.name;
  // The target when `asked` is a CNAME. The platform's own name can be a CNAME too; then the records are at a third name.
  const where = found[0]?.name ?? asked;
  const isOurs = answer.records.some(({ type, value }) => type === 'CNAME' && value === platformHost);
  const remedyOf = (objection: CaaObjection): Pick<Diagnosis, 'actor' | 'remedy'> => {
    if (isOurs) return { actor: 'PLATFORM', remedy: `Nothing: we must change the records at ${where}.` };
    if (where === asked) return { actor: 'OWNER', remedy: ownerRemedy(objection, where) };
    const remedy = `Point ${asked} straight to ${platformHost}, or have the records at ${where} changed.`;
    return { actor: 'OWNER', remedy };
  };
  const objections = evaluateCaa(
    found.flatMap(({ caa }) => caa ?? []),
    check,
  );
  return objections.map((objection) => ({
    code: objection.code,
    severity: objection.severity,
    ...remedyOf(objection),
    cause: `${causeOf(objection)}, at ${where}${where === asked ? '' : `, the CNAME target of ${asked}`}.`,
    retryAtMs: null,
    evidence: [caaEvidence(answer)],
  }));
}

function causeOf({ code, severity, named }: CaaObjection): string {
  const list = listed(named, ', ', MOST_NAMED);
  switch (code) {
    case 'CAA_BLOCKS_CA':
      if (named.length === 0) return 'CAA records allow no certificate authority';
      return `CAA records allow only ${list}, ${severity === 'WARNING' ? 'and perhaps not' : 'not'} our certificate authority`;
    case 'CAA_ACCOUNT':
      return `A CAA record allows our certificate authority for the account ${list} only`;
    case 'CAA_METHOD':
      return `A CAA record allows our certificate authority with the validation methods ${list} only`;
    case 'CAA_UNKNOWN_CRITICAL':
      return `A critical CAA record has the tag ${list}, which certificate authorities may not ignore`;
  }
}

function ownerRemedy({ code, remedyValue, named }: CaaObjection, where: string): string {
  if (code === 'CAA_UNKNOWN_CRITICAL') {
    return `Delete the CAA record with the tag ${listed(named, ', ', MOST_NAMED)} at ${where}, or set its flags to 0.`;
  }
  return remedyValue === null
    ? `Allow our certificate authority in the CAA records at ${where}, or delete them.`
    : `Add ${where} CAA 0 issue "${remedyValue}".`;
}

function noAnswer(name: string, error: unknown, atMs: number): Diagnosis {
  const answer = shown(error instanceof Error ? error.message : 'no answer');
  return {
    ...LOOKUP_FAILED,
    actor: 'NOBODY',
    cause: `The CAA records at ${name} could not be looked up: there was no answer in time.`,
    remedy: 'Nothing: the lookup is repeated automatically.',
    evidence: [{ server: 'resolver', question: `${name} CAA`, answer, ttlSeconds: null, atMs }],
  };
}

function badAnswer(answer: Answer): Diagnosis {
  const { question, rcode, extendedError } = answer;
  const said = rcode === 'NOERROR' ? 'an unreadable record' : rcode;
  const why = extendedError === null ? '' : ` (${shown(extendedError)})`;
  return {
    ...LOOKUP_FAILED,
    actor: 'DNS_PROVIDER',
    cause: `The name servers of ${question.name} answer the question for CAA records with ${said}${why}.`,
    remedy: `Ask the DNS provider of ${question.name} to answer questions for CAA records with NOERROR; until then no certificate is issued.`,
    evidence: [caaEvidence(answer)],
  };
}

function caaEvidence(answer: Answer): Evidence {
  const { rcode, extendedError, records } = answer;
  const found = records.filter(({ caa }) => caa !== null);
  const lines = found.slice(0, MOST_NAMED).map(({ name, value }) => `${name}. CAA ${value}`);
  const said = [...(extendedError === null ? [] : [extendedError]), ...lines];
  return {
    ...evidenceOf(answer),
    answer: shown(said.length > 0 ? `${rcode}: ${said.join('; ')}` : rcode),
    ttlSeconds: found[0]?.ttlSeconds ?? null,
  };
}
