/** The party that must act to resolve a finding. */
export type DiagnosisActor = 'OWNER' | 'DNS_PROVIDER' | 'PLATFORM' | 'CERTIFICATE_AUTHORITY' | 'NOBODY';
/** `ERROR`: the domain does not work. `WARNING`: it may stop working soon. `INFO`: no action is needed. */
export type DiagnosisSeverity = 'ERROR' | 'WARNING' | 'INFO';

/** A server's answer to a question. */
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

/** A finding: why a domain does not work, or soon will not, and what to do about it. */
export interface Diagnosis {
  code: DiagnosisCode;
  severity: DiagnosisSeverity;
  actor: DiagnosisActor;
  /** The problem, in one sentence. */
  cause: string;
  /** The fix, in one sentence. */
  remedy: string;
  /** An earlier retry can't succeed; null = any time after the fix. */
  retryAtMs: number | null;
  evidence: Evidence[];
}

/** Every code that an owner can see, with its meaning. */
export const DIAGNOSIS_CODES = {
  OWNERSHIP_TXT_MISSING: 'The TXT record that proves ownership is missing.',
  OWNERSHIP_TXT_MISMATCH: 'The TXT record for ownership has another value.',
  DNS_NO_RECORD: 'The name does not exist, or has no CNAME and no address of its own.',
  NAME_DOUBLED: 'The record was created under a name that contains the zone twice.',
  VALUE_DOUBLED: 'The value of the CNAME has the zone appended.',
  CNAME_WRONG_VALUE: 'The CNAME points elsewhere.',
  CONFLICTING_RECORD: 'A and AAAA records block the CNAME.',
  AAAA_FOREIGN: 'The IPv4 addresses are ours, the IPv6 addresses are not.',
  ADDRESS_MIXED: 'Some addresses are ours and some are not.',
  ADDRESS_ELSEWHERE: 'All addresses belong to other servers.',
  APEX_NEEDS_ALIAS: "The name is the apex of a zone and can't have a CNAME.",
  FLATTENED: 'The CNAME is hidden, and the addresses are ours.',
  PROXIED: 'The addresses belong to a proxy that hides the real target.',
  CNAME_LOOP: 'The chain of CNAMEs is a loop.',
  TARGET_GONE: 'The CNAMEs, or the ALIAS, lead to a name that does not exist.',
  NOT_PROPAGATED: 'Some name servers or caches still give an old answer.',
  NAMESERVER_FAILING: 'A name server of the zone does not answer correctly.',
  DNSSEC_BROKEN: 'The answer fails DNSSEC validation.',
  DNS_UNREACHABLE: 'DNS could not be asked. This says nothing about the records.',
  WILDCARD_DNS: 'Any name below the zone points here.',
  CAA_BLOCKS_CA: 'CAA records do not allow the certificate authority.',
  CAA_ACCOUNT: 'A CAA record allows the certificate authority for another account only.',
  CAA_METHOD: 'A CAA record allows other validation methods only.',
  CAA_UNKNOWN_CRITICAL: 'A critical CAA record has a tag that certificate authorities may not ignore.',
  CAA_LOOKUP_FAILED: 'CAA records could not be looked up.',
  CHALLENGE_UNREACHABLE: 'The certificate authority could not connect to the name.',
  CHALLENGE_WRONG_ANSWER: 'The certificate authority got an answer from another server.',
  CA_RATE_LIMITED: 'A limit of the certificate authority is reached.',
  CA_PAUSED: 'The certificate authority has paused the name.',
  CA_REJECTED: 'The certificate authority refuses the name.',
  CA_DOWN: 'The certificate authority is unavailable or failing.',
  CERTIFICATE_DELAYED: 'There is no certificate 30 minutes after DNS was right.',
  RENEWAL_AT_RISK: 'The certificate expires soon and could not be renewed.',
} as const;

export type DiagnosisCode = keyof typeof DIAGNOSIS_CODES;

/** For each domain or event. More kinds of findings never occur at the same time. */
export const MAX_DIAGNOSES = 10;
/** For each finding. */
export const MAX_EVIDENCE = 12;

/** Whether a finding keeps the domain from working. */
export function isBlocking({ severity }: Diagnosis): boolean {
  return severity === 'ERROR';
}
