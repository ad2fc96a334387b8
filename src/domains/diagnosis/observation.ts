import type { Delegation } from '../dns/delegation.js';
import type { Answer } from '../dns/dns-message.js';
import type { Zone } from '../dns/name-servers.js';
import type { Lookup } from './lookup.js';

/** The domain to observe. */
export interface Subject {
  projectId: bigint;
  hostname: string;
  /** The previous knowledge, used when DNS can't be asked. */
  isApex: boolean;
  /** The TXT record to look for; null = none. */
  ownership: Proof | null;
}

export interface Proof {
  name: string;
  value: string;
  /** The proof is not required; only another project's proof in its place matters. */
  isAssumed?: boolean;
}

/** All answers from DNS, without any judgement. */
export interface Observation {
  hostname: string;
  platformHost: string;
  isApex: boolean;
  /** Null = not found, or the zone of a registry. */
  zone: Zone | null;
  registrable: string;
  /** Only the registry's zone has the domain: it is not registered, or has no name servers. */
  isOrphan: boolean;
  host: Lookup;
  /** The first refused question, repeated without DNSSEC validation; null = the resolver refused none. */
  unvalidated: Answer | null;
  /** The CNAME replies in order, when the resolver did not follow them to the end. */
  chain: Lookup;
  /** Addresses only. */
  platform: Lookup;
  /** Of a random name, which only a wildcard record answers. */
  sibling: Lookup;
  /** The addresses of the name with its zone appended, and of a random name below: a wildcard record answers both. */
  doubled: { name: string; zone: string; there: Answer; below: Answer } | null;
  nameServers: { name: string; lookup: Lookup; txt: Answer | null }[];
  /** Null = unknown, or the zone of a registry. */
  delegation: Delegation | null;
  /** `atHost`: the TXT records of the host name itself. */
  ownership: (Proof & { txt: Answer; atHost: Answer }) | null;
  atMs: number;
}
