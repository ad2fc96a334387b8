import { type Answer, DnsUnreachable, isDecisive, type Question } from '../dns/dns-message.js';
import type { Diagnosis, DiagnosisCode } from './diagnosis.js';
import { evidenceOf, finding, listed, reasonOf, shown } from './finding.js';

/** The certificate that CAA records must allow. */
export interface CaaRule {
  /** Issuer names of the certificate authority; empty = unknown, so any issuer may be it. */
  identities: readonly string[];
  accountUrl: string;
  /** The target of custom domains. The platform, not the owner, changes CAA records there. */
  platformHost: string;
}

const METHOD = 'http-01';
const MOST_NAMED = 5;
/** A critical record with any other tag blocks issuance, even `contactemail` and `issuemail`: some CAs do not know these. */
const KNOWN_TAGS = ['issue', 'issuewild', 'iodef'];

/**
 * The CAA records that forbid the certificate authority to issue for `hostname`, as diagnoses; empty = issuing is allowed.
 * `ask` queries a recursive resolver, which follows CNAMEs.
 * The search climbs from the name to its parents, without the root; the first record set decides. Source: RFC 8659 §3.
 */
export async function checkCaa(
  ask: (question: Question) => Promise<Answer>,
  hostname: string,
  rule: CaaRule,
): Promise<Diagnosis[]> {
  const labels = hostname.split('.');
  for (const name of labels.map((_, index) => labels.slice(index).join('.'))) {
    const answer = await ask({ name, type: 'CAA' });
    const found = answer.records.filter(({ type }) => type === 'CAA');
    // The CA must treat a failed lookup as a refusal.
    if (!isDecisive(answer) || found.some(({ caa }) => caa === null)) return [failedLookup(answer)];
    if (found.length > 0) return objections(answer, found[0]?.name ?? name, rule);
  }
  return [];
}

/**
 * The objections of the relevant record set to a certificate without wildcards. Source: RFC 8659 and 8657.
 * `where`: the target when the name is a CNAME. The platform's name can be a CNAME too; then it is a third name.
 */
function objections(answer: Answer, where: string, rule: CaaRule): Diagnosis[] {
  const { identities, platformHost } = rule;
  const asked = answer.question.name;
  const isOurs = answer.records.some(({ type, value }) => type === 'CNAME' && value === platformHost);
  const elsewhere = isOurs
    ? `Nothing: we must change the records at ${where}.`
    : `Point ${asked} straight to ${platformHost}, or have the records at ${where} changed.`;
  const found: Diagnosis[] = [];
  const object = (code: DiagnosisCode, problem: string, remedy: string) => {
    const cause = `${problem}, at ${where}${where === asked ? '' : `, the CNAME target of ${asked}`}.`;
    const actor = isOurs ? 'PLATFORM' : 'OWNER';
    const fix = isOurs || where !== asked ? elsewhere : remedy;
    found.push(caaFinding(code, answer, { actor, cause, remedy: fix }));
  };
  const adding = (value: string) => `Add ${where} CAA 0 issue "${value}".`;

  const records = answer.records.flatMap(({ caa }) => caa ?? []);
  const unknown = records.filter(
    ({ isCritical, tag }) => isCritical && !KNOWN_TAGS.includes(tag.toLowerCase()),
  );
  if (unknown.length > 0) {
    const tags = named(unknown.map(({ tag }) => tag));
    object(
      'CAA_UNKNOWN_CRITICAL',
      `A critical CAA record has the tag ${tags}, which certificate authorities may not ignore`,
      `Delete the CAA record with the tag ${tags} at ${where}, or set its flags to 0.`,
    );
  }
  const values = records.filter(({ tag }) => tag.toLowerCase() === 'issue').map(({ value }) => value);
  // A set with only `iodef` or `issuewild` records allows every CA.
  if (values.length === 0) return found;
  const properties = values.map(parseIssueProperty).filter((property) => property !== null);
  if (properties.length > 0 && identities.length === 0) return found;
  // A single record that allows the CA is enough. If no record does, the result names the closest one.
  const [closest] = properties
    .filter(({ issuer }) => identities.includes(issuer))
    .map((property) => brokenBy(property, rule.accountUrl))
    .sort((one, other) => one.limits.length - other.limits.length);
  if (closest) {
    for (const [code, limit] of closest.limits) {
      object(code, `A CAA record allows our certificate authority ${limit} only`, adding(closest.record));
    }
    return found;
  }
  const others = named(properties.map(({ issuer }) => issuer));
  const problem =
    properties.length === 0
      ? 'CAA records allow no certificate authority'
      : `CAA records allow only ${others}, not our certificate authority`;
  const remedy = identities[0]
    ? adding(identities[0])
    : `Allow our certificate authority in the CAA records at ${where}, or delete them.`;
  object('CAA_BLOCKS_CA', problem, remedy);
  return found;
}

/**
 * The limits of a record that the certificate breaks, and the further record that it needs. RFC 8657 §3 and §4: a repeated
 * parameter can't be satisfied; several accounts or CAs need several records.
 */
function brokenBy(
  { issuer, parameters }: IssueProperty,
  accountUrl: string,
): { limits: [DiagnosisCode, string][]; record: string } {
  const valuesOf = (tag: string) => parameters.filter(([name]) => name === tag).map(([, value]) => value);
  const accounts = valuesOf('accounturi');
  const methods = valuesOf('validationmethods');
  const limits: [DiagnosisCode, string][] = [];
  if (accounts.length > 1 || accounts.some((account) => account !== accountUrl))
    limits.push(['CAA_ACCOUNT', `for the account ${named(accounts)}`]);
  if (methods.length > 1 || methods.some((list) => !allowsMethod(list)))
    limits.push(['CAA_METHOD', `with the validation methods ${named(methods)}`]);
  const record = [
    issuer,
    ...(accounts.length > 0 ? [`accounturi=${accountUrl}`] : []),
    ...(methods.length > 0 ? [`validationmethods=${METHOD}`] : []),
  ];
  return { limits, record: record.join('; ') };
}

/** A single malformed label makes the whole list invalid. */
function allowsMethod(list: string): boolean {
  const labels = list.split(',');
  return labels.every((label) => /^[a-z0-9-]+$/i.test(label)) && labels.includes(METHOD);
}

const named = (values: readonly string[]) => listed([...new Set(values)], ', ', MOST_NAMED);

/** The value of an `issue` record that names a CA. */
interface IssueProperty {
  /** In lower case. */
  issuer: string;
  parameters: [tag: string, value: string][];
}

const LABEL = '[a-z0-9]+(?:-+[a-z0-9]+)*';
const BLANKS = '[\\t ]*';
/** A value can contain equal signs, for example in the query string of an account URL, but no semicolon. */
const PARAMETER = `;${BLANKS}(${LABEL})${BLANKS}=${BLANKS}([!-:<-~]*)${BLANKS}`;
/** A semicolon without parameters is allowed; a semicolon after the last parameter is not. */
const ISSUE = new RegExp(
  `^${BLANKS}(${LABEL}(?:\\.${LABEL})*)${BLANKS}(?:;${BLANKS}|(?:${PARAMETER})*)$`,
  'i',
);

/** Null = the record allows no CA: it names none (`;`), or it is malformed, which means the same. Source: RFC 8659 §4.2. */
export function parseIssueProperty(text: string): IssueProperty | null {
  const [, issuer] = ISSUE.exec(text) ?? [];
  if (issuer === undefined) return null;
  const parameters = [...text.matchAll(new RegExp(PARAMETER, 'gi'))];
  return {
    issuer: issuer.toLowerCase(),
    parameters: parameters.map(([, tag = '', value = '']) => [tag, value]),
  };
}

function failedLookup(answer: Answer): Diagnosis {
  const { name } = answer.question;
  if (answer instanceof DnsUnreachable) {
    return finding('CAA_LOOKUP_FAILED', [answer], {
      actor: 'NOBODY',
      cause: `The CAA records at ${name} could not be looked up: there was no answer in time.`,
      remedy: 'Nothing: the lookup is repeated automatically.',
    });
  }
  const said = answer.rcode === 'NOERROR' ? 'an unreadable record' : answer.rcode;
  return caaFinding('CAA_LOOKUP_FAILED', answer, {
    actor: 'DNS_PROVIDER',
    cause: `The name servers of ${name} answer the question for CAA records with ${said}${reasonOf(answer)}.`,
    remedy: `Ask the DNS provider of ${name} to answer questions for CAA records with NOERROR; until then no certificate is issued.`,
  });
}

/** The evidence shows the CAA records only, as an owner writes them, and the extended error. */
function caaFinding(code: DiagnosisCode, answer: Answer, words: Parameters<typeof finding>[2]): Diagnosis {
  const { rcode, records } = answer;
  const found = records.filter(({ caa }) => caa !== null).slice(0, MOST_NAMED);
  const lines = found.map(({ name, value }) => `${name}. CAA ${value}`);
  const said = [`${rcode}${reasonOf(answer)}`, ...(lines.length > 0 ? [lines.join('; ')] : [])].join(': ');
  const evidence = { ...evidenceOf(answer), answer: shown(said) };
  return { ...finding(code, [], words), evidence: [evidence] };
}
