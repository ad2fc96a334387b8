import type { DnsServer } from '../../ground/config/config.js';
import type { ExtendedError } from './extended-error.js';

export type RecordType = 'A' | 'AAAA' | 'CAA' | 'CNAME' | 'DNAME' | 'DS' | 'NS' | 'RRSIG' | 'SOA' | 'TXT';

export interface Question {
  /** In lower case, without a trailing dot. */
  name: string;
  type: RecordType;
}

export interface CaaRecord {
  isCritical: boolean;
  /** In lower case. */
  tag: string;
  value: string;
}

export interface ResourceRecord {
  /** In lower case, without a trailing dot. */
  name: string;
  /** A `RecordType`, or any other type that the server sent. */
  type: string;
  ttlSeconds: number;
  /** In presentation form: names in lower case without a trailing dot, the strings of a TXT record joined. */
  value: string;
  /** Null = not a CAA record. */
  caa: CaaRecord | null;
}

export interface Answer {
  server: DnsServer;
  question: Question;
  /** `NOERROR`, `NXDOMAIN`, `SERVFAIL`, `REFUSED`, `NOTIMP`, … */
  rcode: string;
  isAuthoritative: boolean;
  records: ResourceRecord[];
  /** The authority section: the SOA of a negative answer, the NS of a referral. */
  authority: ResourceRecord[];
  /** The addresses in the additional section: those of the name servers of a referral. */
  glue: ResourceRecord[];
  /** Null = none. */
  extendedError: ExtendedError | null;
  atMs: number;
}

type Silence = 'timeout' | 'unreachable' | 'malformed' | 'not asked' | 'no authority';

/**
 * A server could not be asked, which says nothing about the records. It is returned in place of an answer, and has no record.
 * `timeout`: no answer in time, or the caller aborted. `unreachable`: no packet reached it. `malformed`: its answer can't be
 * read. `not asked`: too many open questions, or its time was over before its turn. `no authority`: it is no name server of
 * the zone.
 */
export class DnsUnreachable implements Answer {
  readonly rcode = '';
  readonly isAuthoritative = false;
  readonly records: ResourceRecord[] = [];
  readonly authority: ResourceRecord[] = [];
  readonly glue: ResourceRecord[] = [];
  readonly extendedError = null;

  constructor(
    readonly server: DnsServer,
    readonly question: Question,
    readonly reason: Silence,
    readonly atMs: number,
  ) {}
}

/** NOERROR and NXDOMAIN tell which records exist; SERVFAIL, REFUSED and other codes tell nothing. */
export function isDecisive({ rcode }: Pick<Answer, 'rcode'>): boolean {
  return rcode === 'NOERROR' || rcode === 'NXDOMAIN';
}

/** The distinct values of the records with this type, and with this name if one is given. */
export function valuesOf(
  answers: readonly Pick<Answer, 'records'>[],
  type: RecordType,
  name?: string,
): string[] {
  const found = answers
    .flatMap(({ records }) => records)
    .filter((record) => record.type === type && record.name === (name ?? record.name));
  return [...new Set(found.map(({ value }) => value))];
}

/** `192.0.2.1:53`, `[2001:db8::1]:53` */
export function serverName({ address, port }: DnsServer): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
