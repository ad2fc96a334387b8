import {
  type Answer,
  type CaaRecord,
  DnsUnreachable,
  isDecisive,
  type Question,
} from '../dns/dns-message.js';
import type { Diagnosis, Evidence } from './diagnosis.js';
import { evidenceOf, finding, listed, shown } from './evidence.js';

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
    if (found.length > 0) return findings(answer, found[0]?.name ?? name, rule);
  }
  return [];
}

/** `where`: the target when the name is a CNAME. The platform's name can be a CNAME too; then it is a third name. */
function findings(answer: Answer, where: string, rule: CaaRule): Diagnosis[] {
  const { platformHost } = rule;
  const asked = answer.question.name;
  const records = answer.records.flatMap(({ caa }) => caa ?? []);
  const isOurs = answer.records.some(({ type, value }) => type === 'CNAME' && value === platformHost);
  return objectionsTo(records, where, rule).map(({ code, problem, remedy }) => ({
    ...finding(code, [], {
      actor: isOurs ? 'PLATFORM' : 'OWNER',
      cause: `${problem}, at ${where}${where === asked ? '' : `, the CNAME target of ${asked}`}.`,
      remedy: isOurs
        ? `Nothing: we must change the records at ${where}.`
        : where === asked
          ? remedy
          : `Point ${asked} straight to ${platformHost}, or have the records at ${where} changed.`,
    }),
    evidence: [caaEvidence(answer)],
  }));
}

/** Why a set of CAA records does not allow the certificate. */
interface Objection extends Pick<Diagnosis, 'code' | 'remedy'> {
  /** The cause, without its place. */
  problem: string;
}

/** The objections of the relevant record set to a certificate without wildcards. Source: RFC 8659 and 8657. */
function objectionsTo(records: readonly CaaRecord[], where: string, rule: CaaRule): Objection[] {
  const unknown = records.filter(
    ({ isCritical, tag }) => isCritical && !KNOWN_TAGS.includes(tag.toLowerCase()),
  );
  const tags = named(distinct(unknown.map(({ tag }) => tag)));
  const critical: Objection = {
    code: 'CAA_UNKNOWN_CRITICAL',
    problem: `A critical CAA record has the tag ${tags}, which certificate authorities may not ignore`,
    remedy: `Delete the CAA record with the tag ${tags} at ${where}, or set its flags to 0.`,
  };
  const values = records.filter(({ tag }) => tag.toLowerCase() === 'issue').map(({ value }) => value);
  // A set with only `iodef` or `issuewild` records allows every CA.
  const issue = values.length === 0 ? [] : issueObjections(values, where, rule);
  return unknown.length > 0 ? [critical, ...issue] : issue;
}

function issueObjections(values: readonly string[], where: string, rule: CaaRule): Objection[] {
  const { identities } = rule;
  const properties = values.map(parseIssueProperty).filter((property) => property !== null);
  const isOurs = (issuer: string) => identities.some((name) => name.toLowerCase() === issuer);
  const ours = properties.filter(({ issuer }) => isOurs(issuer));
  if (ours.length === 0) {
    if (properties.length > 0 && identities.length === 0) return [];
    const allowed = named(distinct(properties.map(({ issuer }) => issuer)));
    const problem =
      properties.length === 0
        ? 'CAA records allow no certificate authority'
        : `CAA records allow only ${allowed}, not our certificate authority`;
    const [identity] = identities;
    const remedy = `Allow our certificate authority in the CAA records at ${where}, or delete them.`;
    return [{ code: 'CAA_BLOCKS_CA', problem, remedy: identity ? adding(identity, where) : remedy }];
  }
  // A single record that allows the CA is enough. If no record does, the result names the closest one.
  const objections = ours.map((property) => parameterObjections(property, where, rule));
  return objections.reduce((best, next) => (next.length < best.length ? next : best));
}

/** RFC 8657 §3 and §4: a repeated parameter can't be satisfied; several accounts or CAs need several records. */
function parameterObjections(
  { issuer, parameters }: IssueProperty,
  where: string,
  { accountUrl }: CaaRule,
): Objection[] {
  const valuesOf = (tag: string) => parameters.filter(([name]) => name === tag).map(([, value]) => value);
  const accounts = valuesOf('accounturi');
  const methods = valuesOf('validationmethods');
  const record = [
    issuer,
    ...(accounts.length > 0 ? [`accounturi=${accountUrl}`] : []),
    ...(methods.length > 0 ? [`validationmethods=${METHOD}`] : []),
  ].join('; ');
  const remedy = adding(record, where);
  const objections: Objection[] = [];
  if (accounts.length > 1 || (accounts.length === 1 && accounts[0] !== accountUrl)) {
    const problem = `A CAA record allows our certificate authority for the account ${named(accounts)} only`;
    objections.push({ code: 'CAA_ACCOUNT', problem, remedy });
  }
  if (methods.length > 1 || (methods.length === 1 && !allowsMethod(methods[0] ?? ''))) {
    const problem = `A CAA record allows our certificate authority with the validation methods ${named(methods)} only`;
    objections.push({ code: 'CAA_METHOD', problem, remedy });
  }
  return objections;
}

/** The remedy: a further record, which allows the certificate. */
const adding = (value: string, where: string) => `Add ${where} CAA 0 issue "${value}".`;

/** A single malformed label makes the whole list invalid. */
function allowsMethod(list: string): boolean {
  const labels = list.split(',');
  return labels.every((label) => /^[a-z0-9-]+$/i.test(label)) && labels.includes(METHOD);
}

const distinct = (values: readonly string[]) => [...new Set(values)];
const named = (values: readonly string[]) => listed(values, ', ', MOST_NAMED);

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
  const why = answer.extendedError === null ? '' : ` (${shown(answer.extendedError)})`;
  const found = finding('CAA_LOOKUP_FAILED', [], {
    actor: 'DNS_PROVIDER',
    cause: `The name servers of ${name} answer the question for CAA records with ${said}${why}.`,
    remedy: `Ask the DNS provider of ${name} to answer questions for CAA records with NOERROR; until then no certificate is issued.`,
  });
  return { ...found, evidence: [caaEvidence(answer)] };
}

/** Shows the CAA records only, as an owner writes them, and the extended error. */
function caaEvidence(answer: Answer): Evidence {
  const { rcode, extendedError, records } = answer;
  const found = records.filter(({ caa }) => caa !== null);
  const lines = found.slice(0, MOST_NAMED).map(({ name, value }) => `${name}. CAA ${value}`);
  const said = [...(extendedError === null ? [] : [extendedError]), ...lines].join('; ');
  return { ...evidenceOf(answer), answer: shown(said === '' ? rcode : `${rcode}: ${said}`) };
}
