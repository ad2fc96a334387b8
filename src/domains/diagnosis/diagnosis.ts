import { type Answer, DnsUnreachable, type ResourceRecord, serverName } from '../dns/dns-message.js';
import { extendedErrorInWords } from '../dns/extended-error.js';

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

/** A column takes 64 KB. A project has two such columns for each of 100 domains, and one request reads them all. */
const MAX_JSON_BYTES = 20_000;

/** Of an answer from DNS, which is untrusted. */
const MAX_RECORDS = 8;
const MAX_VALUE = 300;
const SILENCES = {
  timeout: 'timeout',
  unreachable: 'unreachable',
  malformed: 'malformed or too large answer',
  'not asked': 'not asked: too many questions at once',
  'no authority': 'an answer without authority for the zone',
} as const;

type Words = Pick<Diagnosis, 'cause' | 'remedy'> &
  Partial<Pick<Diagnosis, 'severity' | 'actor' | 'retryAtMs'>>;

/** A diagnosis, shown by replies. Unless `words` says otherwise, it is an error that the owner must correct. */
export function finding(code: DiagnosisCode, evidence: readonly Answer[], words: Words): Diagnosis {
  return {
    code,
    severity: 'ERROR',
    actor: 'OWNER',
    retryAtMs: null,
    ...words,
    evidence: evidence.slice(0, MAX_EVIDENCE).map(evidenceOf),
  };
}

/** A reply in a form for people: `NOERROR: shop.example.com. 300 CNAME old.example.net.` */
export function evidenceOf(reply: Answer): Evidence {
  const { server, question, atMs } = reply;
  return {
    server: serverName(server),
    question: `${question.name} ${question.type}`,
    answer: reply instanceof DnsUnreachable ? SILENCES[reply.reason] : inWords(reply),
    ttlSeconds: ttlSecondsOf(reply),
    atMs,
  };
}

/** When these answers have expired from caches; null = unknown. */
export function forgottenAtMs(replies: readonly Answer[], atMs: number): number | null {
  const ttls = replies.flatMap((reply) => ttlSecondsOf(reply) ?? []);
  return ttls.length === 0 ? null : atMs + Math.max(...ttls) * 1000;
}

/** `14:32 UTC`, with the date when it is another day. */
export function timeInWords(timeMs: number, nowMs: number): string {
  // Rounded up, so that the text never names an earlier time.
  const [day = '', time = ''] = new Date(Math.ceil(timeMs / 60_000) * 60_000).toISOString().split('T');
  const isToday = new Date(nowMs).toISOString().startsWith(day);
  return `${isToday ? '' : `${day} `}${time.slice(0, 5)} UTC`;
}

/** An untrusted value, safe to show: without control characters, and cut to `MAX_VALUE`. */
export function shown(value: string): string {
  const plain = value.replace(/\p{C}/gu, '?');
  return plain.length > MAX_VALUE ? `${plain.slice(0, MAX_VALUE)}…` : plain;
}

/** Untrusted values in one line: the first few, and the number of the others. */
export function listed(values: readonly string[], separator = ', ', most = MAX_RECORDS): string {
  const more = values.length > most ? ` and ${values.length - most} more` : '';
  return `${values.slice(0, most).map(shown).join(separator)}${more}`;
}

/** How long a cache may keep the answer, for a negative one by its SOA (RFC 2308). Null = unknown. */
function ttlSecondsOf({ records, authority }: Answer): number | null {
  if (records.length > 0) return Math.min(...records.map(({ ttlSeconds }) => ttlSeconds));
  const soa = authority.find(({ type }) => type === 'SOA');
  if (!soa) return null;
  const minimumSeconds = Number(soa.value.split(' ').at(-1));
  return Number.isFinite(minimumSeconds) ? Math.min(soa.ttlSeconds, minimumSeconds) : soa.ttlSeconds;
}

/** ` (Not Ready: Zone is configured but not loaded)`, or nothing. */
export function reasonOf({ extendedError }: Answer): string {
  return extendedError === null ? '' : ` (${shown(extendedErrorInWords(extendedError))})`;
}

function inWords(reply: Answer): string {
  const { rcode, records } = reply;
  const detail = reasonOf(reply);
  if (records.length === 0) return `${rcode}${rcode === 'NOERROR' ? ': no records' : ''}${detail}`;
  const more = records.length > MAX_RECORDS ? `; and ${records.length - MAX_RECORDS} more` : '';
  return `${rcode}: ${records.slice(0, MAX_RECORDS).map(line).join('; ')}${more}${detail}`;
}

function line({ name, ttlSeconds, type, value }: ResourceRecord): string {
  const isName = ['CNAME', 'NS', 'DNAME', 'PTR'].includes(type);
  const written = type === 'TXT' ? JSON.stringify(shown(value)) : `${shown(value)}${isName ? '.' : ''}`;
  return `${shown(name)}. ${ttlSeconds} ${type} ${written}`;
}

/** Returns the diagnoses that fit into JSON of `maxBytes`. Evidence comes from untrusted servers: it is dropped first, then findings. */
export function fitForStorage(diagnoses: readonly Diagnosis[], maxBytes = MAX_JSON_BYTES): Diagnosis[] {
  for (const kept of [MAX_EVIDENCE, 3, 0]) {
    const shortened = diagnoses.slice(0, MAX_DIAGNOSES).map((diagnosis) => ({
      ...diagnosis,
      evidence: diagnosis.evidence.slice(0, kept),
    }));
    if (Buffer.byteLength(JSON.stringify(shortened)) <= maxBytes) return shortened;
  }
  return fitForStorage(diagnoses.slice(0, diagnoses.length / 2), maxBytes);
}

/** Whether a finding keeps the domain from working. */
export function isBlocking({ severity }: Diagnosis): boolean {
  return severity === 'ERROR';
}
