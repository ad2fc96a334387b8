import type { CaaRecord } from '../dns/dns-message.js';
import type { DiagnosisCode, DiagnosisSeverity } from './diagnosis.js';

/** The CA that should issue, and the validation method. */
export interface CaaRule {
  /** Issuer names of the certificate authority; empty = unknown, so a foreign issuer is only a warning. */
  identities: readonly string[];
  /** Null = unknown. */
  accountUrl: string | null;
  method: 'http-01';
}

/** Why a set of CAA records does not allow the certificate. */
export interface CaaObjection {
  code: Extract<DiagnosisCode, 'CAA_BLOCKS_CA' | 'CAA_ACCOUNT' | 'CAA_METHOD' | 'CAA_UNKNOWN_CRITICAL'>;
  /** `WARNING` when a part of the rule is unknown. */
  severity: DiagnosisSeverity;
  /** The issuers, accounts or methods that the records allow instead; for a critical record its tag. */
  named: string[];
  /** The value of an additional issue record that would allow the certificate; null = unknown. */
  remedyValue: string | null;
}

/** A critical record with any other tag blocks issuance, even `contactemail` and `issuemail`: some CAs do not know these. */
const KNOWN_TAGS = ['issue', 'issuewild', 'iodef'];

/** The objections of the relevant CAA record set to a certificate without wildcards. Source: RFC 8659 and 8657. */
export function evaluateCaa(records: readonly CaaRecord[], rule: CaaRule): CaaObjection[] {
  const unknown = records
    .filter(({ isCritical, tag }) => isCritical && !KNOWN_TAGS.includes(tag.toLowerCase()))
    .map(({ tag }) => tag);
  const critical: CaaObjection = {
    code: 'CAA_UNKNOWN_CRITICAL',
    severity: 'ERROR',
    named: distinct(unknown),
    remedyValue: null,
  };
  const values = records.filter(({ tag }) => tag.toLowerCase() === 'issue').map(({ value }) => value);
  // A set with only `iodef` or `issuewild` records allows every CA.
  const issue = values.length === 0 ? [] : issueObjections(values, rule);
  return unknown.length > 0 ? [critical, ...issue] : issue;
}

function issueObjections(values: readonly string[], rule: CaaRule): CaaObjection[] {
  const properties = values.map(parseIssueProperty).filter((property) => property !== null);
  const identities = rule.identities.map((name) => name.toLowerCase());
  const ours = properties.filter(({ issuer }) => identities.includes(issuer));
  if (ours.length === 0) {
    const named = distinct(properties.map(({ issuer }) => issuer));
    const isSure = identities.length > 0 || named.length === 0;
    const severity = isSure ? 'ERROR' : 'WARNING';
    return [{ code: 'CAA_BLOCKS_CA', severity, named, remedyValue: rule.identities[0] ?? null }];
  }
  // A single record that allows the CA is enough. If no record does, the result names the closest one.
  const objections = ours.map((property) => parameterObjections(property, rule));
  return objections.reduce((best, next) => (weight(next) < weight(best) ? next : best));
}

const weight = (objections: CaaObjection[]) =>
  objections.reduce((sum, { severity }) => sum + (severity === 'ERROR' ? 3 : 1), 0);

/** RFC 8657 §3 and §4: a repeated parameter can't be satisfied; several accounts or CAs need several records. */
function parameterObjections({ issuer, parameters }: IssueProperty, rule: CaaRule): CaaObjection[] {
  const valuesOf = (tag: string) => parameters.filter(([name]) => name === tag).map(([, value]) => value);
  const accounts = valuesOf('accounturi');
  const methods = valuesOf('validationmethods');
  const remedyValue = [
    issuer,
    ...(accounts.length > 0 && rule.accountUrl !== null ? [`accounturi=${rule.accountUrl}`] : []),
    ...(methods.length > 0 ? [`validationmethods=${rule.method}`] : []),
  ].join('; ');
  const objections: CaaObjection[] = [];
  if (accounts.length > 1 || (accounts.length === 1 && accounts[0] !== rule.accountUrl)) {
    const isSure = accounts.length > 1 || rule.accountUrl !== null;
    const [severity, remedy] = isSure ? (['ERROR', remedyValue] as const) : (['WARNING', null] as const);
    objections.push({ code: 'CAA_ACCOUNT', severity, named: accounts, remedyValue: remedy });
  }
  if (methods.length > 1 || (methods.length === 1 && !allowsMethod(methods[0] ?? '', rule.method))) {
    objections.push({ code: 'CAA_METHOD', severity: 'ERROR', named: methods, remedyValue });
  }
  return objections;
}

/** A single malformed label makes the whole list invalid. */
function allowsMethod(list: string, method: string): boolean {
  const labels = list.split(',');
  return labels.every((label) => /^[a-z0-9-]+$/i.test(label)) && labels.includes(method);
}

const distinct = (names: string[]) => [...new Set(names)];

/** The value of an `issue` record that names a CA. */
export interface IssueProperty {
  /** In lower case. */
  issuer: string;
  parameters: [tag: string, value: string][];
}

/** Null = the record allows no CA: it names none (`;`), or it is malformed, which means the same. Source: RFC 8659 §4.2. */
export function parseIssueProperty(text: string): IssueProperty | null {
  // Of the characters that `trim()` removes, only blanks and tabs are allowed.
  if (!/^[\t -~]*$/.test(text)) return null;
  // Names and values cannot contain a semicolon, even in quotes.
  const [issuer = '', ...rest] = text.split(';').map((part) => part.trim());
  if (!ISSUER.test(issuer)) return null;
  // A semicolon without parameters is allowed; a semicolon after the last parameter is not.
  const parameters = rest.join() === '' && rest.length < 2 ? [] : rest.map(parseParameter);
  if (parameters.includes(null)) return null;
  return { issuer: issuer.toLowerCase(), parameters: parameters.filter((parameter) => parameter !== null) };
}

const ISSUER = /^[a-z0-9]+(-+[a-z0-9]+)*(\.[a-z0-9]+(-+[a-z0-9]+)*)*$/i;
const TAG = /^[a-z0-9]+(-+[a-z0-9]+)*$/i;

function parseParameter(text: string): [string, string] | null {
  // Values can contain equal signs, for example in the query string of an account URL.
  const end = text.indexOf('=');
  const tag = text.slice(0, end).trim();
  const value = text.slice(end + 1).trim();
  return end !== -1 && TAG.test(tag) && /^\S*$/.test(value) ? [tag, value] : null;
}
