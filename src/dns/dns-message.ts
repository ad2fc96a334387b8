import type { DnsServer } from '../config/config.js';

export type RecordType = 'A' | 'AAAA' | 'CAA' | 'CNAME' | 'NS' | 'SOA' | 'TXT';

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

/** A server's answer to a question. */
export interface Answer {
  server: DnsServer;
  question: Question;
  /** `NOERROR`, `NXDOMAIN`, `SERVFAIL`, `REFUSED`, `NOTIMP`, … */
  rcode: string;
  isAuthoritative: boolean;
  records: ResourceRecord[];
  /** The authority section: the SOA of a negative answer, the NS of a referral. */
  authority: ResourceRecord[];
  /** Extended DNS Error (RFC 8914), as `9 DNSKEY missing`; null = none. */
  extendedError: string | null;
  atMs: number;
}
