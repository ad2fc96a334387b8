import type { CaaRecord } from '../dns/dns-message.js';
import { type IssueProperty, parseIssueProperty } from './caa-issue.js';
import type { DiagnosisCode, DiagnosisSeverity } from './diagnosis.js';

/** Who wants to issue, and how. */
export interface CaaRule {
  /** Issuer names of the certificate authority; empty = not known, then nothing can be told for sure. */
  identities: readonly string[];
  /** Null = not known. */
  accountUrl: string | null;
  method: 'http-01';
}

/** Why a set of CAA records does not allow the certificate. */
export interface CaaObjection {
  code: Extract<DiagnosisCode, 'CAA_BLOCKS_CA' | 'CAA_ACCOUNT' | 'CAA_METHOD' | 'CAA_UNKNOWN_CRITICAL'>;
  /** `WARNING` when something of the rule is not known. */
  severity: DiagnosisSeverity;
  /** What the records allow instead: issuers, accounts or methods; of a critical record its tag. */
  named: string[];
  /** The value of an issue record that would allow the certificate, next to those there are; null = none is known. */
  remedyValue: string | null;
}

/** What one set of CAA records, the relevant one, has against a certificate without wildcards. Source: RFC 8659 and 8657. */
export function evaluateCaa(records: readonly CaaRecord[], rule: CaaRule): CaaObjection[] {
  return [...criticalObjections(records), ...issueObjections(records, rule)];
}

/** Critical records with any other tag block, `contactemail` and `issuemail` too: not every CA knows these. */
const KNOWN_TAGS = ['issue', 'issuewild', 'iodef'];

function criticalObjections(records: readonly CaaRecord[]): CaaObjection[] {
  const unknown = records.filter(
    ({ isCritical, tag }) => isCritical && !KNOWN_TAGS.includes(tag.toLowerCase()),
  );
  if (unknown.length === 0) return [];
  const named = distinct(unknown.map(({ tag }) => tag));
  return [{ code: 'CAA_UNKNOWN_CRITICAL', severity: 'ERROR', named, remedyValue: null }];
}

function issueObjections(records: readonly CaaRecord[], rule: CaaRule): CaaObjection[] {
  const values = records.filter(({ tag }) => tag.toLowerCase() === 'issue').map(({ value }) => value);
  // A set that only says where to report, or only speaks of wildcards, allows every CA.
  if (values.length === 0) return [];
  const properties = values.map(parseIssueProperty).filter((property) => property !== null);
  const named = distinct(properties.map(({ issuer }) => issuer));
  const [identity] = rule.identities;
  if (identity === undefined && named.length > 0) {
    return [{ code: 'CAA_BLOCKS_CA', severity: 'WARNING', named, remedyValue: null }];
  }
  const identities = rule.identities.map((name) => name.toLowerCase());
  const ours = properties.filter(({ issuer }) => identities.includes(issuer));
  if (ours.length === 0) {
    return [{ code: 'CAA_BLOCKS_CA', severity: 'ERROR', named, remedyValue: identity ?? null }];
  }
  // One property that allows is enough. Of those that don't, the one that comes closest is told of.
  const objections = ours.map((property) => parameterObjections(property, rule));
  return objections.reduce((best, next) => (weight(next) < weight(best) ? next : best));
}

const weight = (objections: CaaObjection[]) =>
  objections.reduce((sum, { severity }) => sum + (severity === 'ERROR' ? 3 : 1), 0);

/** RFC 8657 §3 and §4: a parameter given twice can't be satisfied; several accounts or CAs are several records. */
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

/** One malformed label spoils the list. */
function allowsMethod(list: string, method: string): boolean {
  const labels = list.split(',');
  return labels.every((label) => /^[a-z0-9-]+$/i.test(label)) && labels.includes(method);
}

const distinct = (names: string[]) => [...new Set(names)];
