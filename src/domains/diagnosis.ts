/** Who must act for a finding to go away. */
export type DiagnosisActor = 'OWNER' | 'DNS_PROVIDER' | 'PLATFORM' | 'CERTIFICATE_AUTHORITY' | 'NOBODY';
/** `ERROR` keeps the domain from working, `WARNING` may soon, `INFO` is good to know. */
export type DiagnosisSeverity = 'ERROR' | 'WARNING' | 'INFO';

/** What a server said. */
export interface Evidence {
  /** `192.0.2.1:53`, or a URL of the CA. */
  server: string;
  /** `shop.example.com CNAME` */
  question: string;
  /** `NOERROR: shop.example.com. CNAME old.example.net.`, `NXDOMAIN`, `timeout` */
  answer: string;
  ttlSeconds: number | null;
  atMs: number;
}

/** One finding: why a domain does not work (or soon will not), and what to do about it. */
export interface Diagnosis {
  code: DiagnosisCode;
  severity: DiagnosisSeverity;
  actor: DiagnosisActor;
  /** One sentence: what is the case. */
  cause: string;
  /** One sentence: what to do. */
  remedy: string;
  /** Looking again earlier is of no use; null = any time after acting. */
  retryAtMs: number | null;
  evidence: Evidence[];
}

/** Every code an owner can meet, and when. */
export const DIAGNOSIS_CODES = {
  OWNERSHIP_TXT_MISSING: 'The TXT record that proves ownership is not there.',
  OWNERSHIP_TXT_MISMATCH: 'There is a TXT record for ownership, with another value.',
  DNS_NO_RECORD: 'The name does not exist, or has no CNAME and no address.',
  NAME_DOUBLED: 'The record was created under a name that has the zone twice.',
  VALUE_DOUBLED: 'The CNAME leads to a value that has the zone appended.',
  CNAME_WRONG_VALUE: 'The CNAME leads elsewhere.',
  CONFLICTING_RECORD: 'A and AAAA records block the CNAME.',
  AAAA_FOREIGN: 'IPv4 leads here and IPv6 elsewhere.',
  ADDRESS_MIXED: 'Some addresses are ours and some are not.',
  ADDRESS_ELSEWHERE: 'All addresses are of other servers.',
  APEX_NEEDS_ALIAS: 'A zone begins at the name, so it can hold no CNAME.',
  FLATTENED: 'The CNAME is hidden, and the addresses are ours.',
  PROXIED: 'The addresses are of a proxy in front of the name.',
  CNAME_LOOP: 'The chain of CNAMEs leads back to itself.',
  TARGET_GONE: 'The chain of CNAMEs ends at a name that does not exist.',
  NOT_PROPAGATED: 'Some name servers or caches still give an old answer.',
  NAMESERVER_FAILING: 'A name server of the zone does not answer as it must.',
  DNSSEC_BROKEN: 'The answer fails DNSSEC validation.',
  DNS_UNREACHABLE: 'DNS could not be asked. Says nothing about the records.',
  WILDCARD_DNS: 'Any name below the zone leads here.',
  CAA_BLOCKS_CA: 'CAA records do not allow the certificate authority.',
  CAA_ACCOUNT: 'A CAA record allows the certificate authority for another account only.',
  CAA_METHOD: 'A CAA record allows other validation methods only.',
  CAA_UNKNOWN_CRITICAL: 'A critical CAA record has a tag that nobody may ignore.',
  CAA_LOOKUP_FAILED: 'CAA records could not be looked up.',
  CHALLENGE_UNREACHABLE: 'The certificate authority could not connect to the name.',
  CHALLENGE_WRONG_ANSWER: 'The certificate authority got the answer of another server.',
  CA_RATE_LIMITED: 'A limit of the certificate authority is reached.',
  CA_PAUSED: 'The certificate authority has paused the name.',
  CA_REJECTED: 'The certificate authority refuses the name.',
  CA_DOWN: 'The certificate authority is away or failing.',
  CERTIFICATE_DELAYED: 'There is no certificate 30 minutes after DNS was right.',
  RENEWAL_AT_RISK: 'The certificate ends soon and could not be renewed.',
} as const;

export type DiagnosisCode = keyof typeof DIAGNOSIS_CODES;

/** Of a domain, or of an event: more than there are kinds of findings at the same time. */
export const MAX_DIAGNOSES = 10;
/** Of a finding. */
export const MAX_EVIDENCE = 12;

/** In a column of 64 KB, of which a project has two for each of 100 domains, and reads them all at once. */
const MAX_JSON_BYTES = 20_000;

/** As they are stored. Evidence is what a stranger's server said: what is too much of it is left out. */
export function toJson(diagnoses: readonly Diagnosis[], maxBytes = MAX_JSON_BYTES): string {
  for (const kept of [Number.POSITIVE_INFINITY, 3, 0]) {
    const json = JSON.stringify(
      diagnoses.map((diagnosis) => ({ ...diagnosis, evidence: diagnosis.evidence.slice(0, kept) })),
    );
    if (Buffer.byteLength(json) <= maxBytes) return json;
  }
  return toJson(diagnoses.slice(0, diagnoses.length / 2), maxBytes);
}

/** Whether a finding keeps the domain from working. */
export function isBlocking({ severity }: Diagnosis): boolean {
  return severity === 'ERROR';
}
