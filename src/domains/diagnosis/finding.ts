import { type Answer, DnsUnreachable, type ResourceRecord, serverName } from '../dns/dns-message.js';
import { extendedErrorInWords } from '../dns/extended-error.js';
import {
  type Diagnosis,
  type DiagnosisCode,
  type Evidence,
  MAX_DIAGNOSES,
  MAX_EVIDENCE,
} from './diagnosis.js';

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
