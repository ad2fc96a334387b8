import type { Answer, Question, ResourceRecord } from '../../../dns/dns-message.js';
import type { Diagnosis, Evidence } from '../diagnosis.js';
import { type CaaObjection, type CaaRule, evaluateCaa } from './caa-policy.js';

export interface CaaCheck extends CaaRule {
  /** The target of custom domains. The platform, not the owner, changes CAA records there. */
  platformHost: string;
  now: () => number;
}

/**
 * The CAA records that forbid the certificate authority to issue for `hostname`, as diagnoses; empty = issuing is allowed.
 * `ask` queries a recursive resolver, which follows CNAMEs; it rejects when there is no answer.
 * The search climbs from the name to its parents; the first record set decides. A lookup that fails before that blocks
 * issuance, because the CA must treat it as a refusal. Source: RFC 8659 §3.
 */
export async function checkCaa(
  ask: (question: Question) => Promise<Answer>,
  hostname: string,
  check: CaaCheck,
): Promise<Diagnosis[]> {
  for (const name of climb(hostname)) {
    const question: Question = { name, type: 'CAA' };
    let answer: Answer;
    try {
      answer = await ask(question);
    } catch (error) {
      return [noAnswer(question, error, check.now())];
    }
    const found = answer.records.filter(({ type }) => type === 'CAA');
    const isAnswered = answer.rcode === 'NOERROR' || answer.rcode === 'NXDOMAIN';
    if (!isAnswered || found.some(({ caa }) => caa === null)) return [badAnswer(answer)];
    if (found.length > 0) return findings(answer, found, check);
  }
  return [];
}

/** The name and its parents up to the top-level domain, without the root. */
function climb(hostname: string): string[] {
  const labels = hostname.split('.');
  return labels.map((_, index) => labels.slice(index).join('.'));
}

function findings(answer: Answer, found: ResourceRecord[], check: CaaCheck): Diagnosis[] {
  const { platformHost } = check;
  // The platform's own name can be a CNAME too; then the records are at a third name.
  const isOurs = answer.records.some(({ type, value }) => type === 'CNAME' && value === platformHost);
  const where = found[0]?.name ?? answer.question.name;
  const records = found.flatMap(({ caa }) => (caa ? [caa] : []));
  return evaluateCaa(records, check).map((objection) => ({
    code: objection.code,
    severity: objection.severity,
    ...advice(objection, { asked: answer.question.name, where, isOurs, platformHost }),
    retryAtMs: null,
    evidence: [evidenceOf(answer, found)],
  }));
}

interface Place {
  asked: string;
  /** The name of the records: the target when `asked` is a CNAME. */
  where: string;
  isOurs: boolean;
  platformHost: string;
}

type Advice = Pick<Diagnosis, 'actor' | 'cause' | 'remedy'>;

function advice(objection: CaaObjection, { asked, where, isOurs, platformHost }: Place): Advice {
  const isElsewhere = where !== asked;
  const cause = `${causeOf(objection, where)}${isElsewhere ? `, the CNAME target of ${asked}` : ''}.`;
  if (isOurs) {
    return { actor: 'PLATFORM', cause, remedy: `Nothing: we must change the records at ${where}.` };
  }
  if (isElsewhere) {
    const remedy = `Point ${asked} straight to ${platformHost}, or have the records at ${where} changed.`;
    return { actor: 'OWNER', cause, remedy };
  }
  return { actor: 'OWNER', cause, remedy: remedyOf(objection, where) };
}

function causeOf({ code, severity, named }: CaaObjection, where: string): string {
  const list = listed(named);
  switch (code) {
    case 'CAA_BLOCKS_CA':
      if (severity === 'WARNING') {
        return `CAA records allow only ${list}, and perhaps not our certificate authority, at ${where}`;
      }
      return named.length === 0
        ? `CAA records allow no certificate authority at ${where}`
        : `CAA records allow only ${list}, not our certificate authority, at ${where}`;
    case 'CAA_ACCOUNT':
      return `A CAA record allows our certificate authority for the account ${list} only, at ${where}`;
    case 'CAA_METHOD':
      return `A CAA record allows our certificate authority with the validation methods ${list} only, at ${where}`;
    case 'CAA_UNKNOWN_CRITICAL':
      return `A critical CAA record has the tag ${list}, which certificate authorities may not ignore, at ${where}`;
  }
}

function remedyOf({ code, remedyValue, named }: CaaObjection, where: string): string {
  if (code === 'CAA_UNKNOWN_CRITICAL') {
    return `Delete the CAA record with the tag ${listed(named)} at ${where}, or set its flags to 0.`;
  }
  return remedyValue === null
    ? `Allow our certificate authority in the CAA records at ${where}, or delete them.`
    : `Add ${where} CAA 0 issue "${remedyValue}".`;
}

function noAnswer({ name }: Question, error: unknown, atMs: number): Diagnosis {
  return {
    code: 'CAA_LOOKUP_FAILED',
    severity: 'ERROR',
    actor: 'NOBODY',
    cause: `The CAA records at ${name} could not be looked up: there was no answer in time.`,
    remedy: 'Nothing: the lookup is repeated automatically.',
    retryAtMs: null,
    evidence: [
      {
        server: 'resolver',
        question: `${name} CAA`,
        answer: printable(error instanceof Error ? error.message : 'no answer'),
        ttlSeconds: null,
        atMs,
      },
    ],
  };
}

function badAnswer(answer: Answer): Diagnosis {
  const { question, rcode, extendedError } = answer;
  const said = rcode === 'NOERROR' ? 'an unreadable record' : rcode;
  const why = extendedError === null ? '' : ` (${printable(extendedError)})`;
  return {
    code: 'CAA_LOOKUP_FAILED',
    severity: 'ERROR',
    actor: 'DNS_PROVIDER',
    cause: `The name servers of ${question.name} answer the question for CAA records with ${said}${why}.`,
    remedy: `Ask the DNS provider of ${question.name} to answer questions for CAA records with NOERROR; until then no certificate is issued.`,
    retryAtMs: null,
    evidence: [evidenceOf(answer, [])],
  };
}

function evidenceOf(answer: Answer, found: ResourceRecord[]): Evidence {
  const { server, question, rcode, extendedError, atMs } = answer;
  const records = found.slice(0, MOST_NAMED).map(({ name, value }) => `${name}. CAA ${value}`);
  const said = [...(extendedError === null ? [] : [extendedError]), ...records];
  return {
    server: `${server.address.includes(':') ? `[${server.address}]` : server.address}:${server.port}`,
    question: `${question.name} ${question.type}`,
    answer: printable(said.length > 0 ? `${rcode}: ${said.join('; ')}` : rcode),
    ttlSeconds: found[0]?.ttlSeconds ?? null,
    atMs,
  };
}

const MOST_NAMED = 5;
const MOST_CHARACTERS = 500;

function listed(names: string[]): string {
  const rest = names.length - MOST_NAMED;
  const first = names.slice(0, MOST_NAMED).map(printable);
  return `${first.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** Names and values come from DNS and are untrusted. */
function printable(text: string): string {
  return text.slice(0, MOST_CHARACTERS).replace(/[^\x20-\x7e]/g, '?');
}
