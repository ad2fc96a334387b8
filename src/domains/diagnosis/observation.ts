import { randomBytes } from 'node:crypto';
import { getDomain, getPublicSuffix } from 'tldts';
import { withTimeLimit } from '../../ground/kernel/deadline.js';
import type { Asker } from '../dns/ask-server.js';
import { type Delegation, delegationOf } from '../dns/delegation.js';
import { DnsUnreachable, type Question } from '../dns/dns-message.js';
import { isSendable } from '../dns/dns-packets.js';
import type { NameServers, Zone, ZoneCut } from '../dns/name-servers.js';
import type { Resolver } from '../dns/resolver.js';
import type { Reply } from './evidence.js';
import { type Ask, followCnames, type Lookup, lookUp, repliesOf, replyTo, valuesOf } from './lookup.js';

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
  unvalidated: Reply | null;
  /** The CNAME replies in order, when the resolver did not follow them to the end. */
  chain: Reply[];
  platform: Lookup;
  sibling: Lookup;
  /** The addresses of the name with its zone appended, and of a random name below: a wildcard record answers both. */
  doubled: { name: string; zone: string; there: Reply; below: Reply } | null;
  nameServers: { name: string; lookup: Lookup; txt: Reply | null }[];
  /** Null = unknown, or the zone of a registry. */
  delegation: Delegation | null;
  /** `atHost`: the TXT records of the host name itself. */
  ownership: (Proof & { txt: Reply; atHost: Reply }) | null;
  atMs: number;
}

interface Observer {
  resolver: Resolver;
  nameServers: NameServers;
  platformHost: string;
  now: () => number;
}

/** The delegation takes the most round trips, and is not worth the whole time of an inspection. */
const DELEGATION_MS = 900;

/** Asks all questions in parallel, until `signal` aborts. Only resolvers and name servers get packets, never the host. */
export async function observe(
  { resolver, nameServers, platformHost, now }: Observer,
  { projectId, hostname, isApex, ownership }: Subject,
  signal: AbortSignal,
): Promise<Observation> {
  const asker: Asker = { projectId, signal };
  const ask: Ask = (question) => replyTo(resolver.ask(question, { asker }));
  const registrable = getDomain(hostname) ?? hostname;
  const cutting = nameServers.cutOf(hostname, asker);
  const zoning = cutting.then(ownZone);
  const looking = lookUp(hostname, ask);

  const following = async () => {
    const host = await looking;
    const refused = repliesOf(host).find(
      (reply) => !(reply instanceof DnsUnreachable) && reply.rcode === 'SERVFAIL',
    );
    const [unvalidated, chain] = await Promise.all([
      refused ? replyTo(resolver.ask(refused.question, { asker, checkingDisabled: true })) : null,
      followCnames(host, ask),
    ]);
    return { host, unvalidated, chain };
  };
  const doubling = async (): Promise<Observation['doubled']> => {
    const [found, { cname }] = await Promise.all([zoning, looking]);
    const zone = found?.name ?? registrable;
    const name = `${hostname}.${zone}`;
    const random = nameBelow(name);
    if (valuesOf([cname], 'CNAME').includes(platformHost) || !isSendable(random)) return null;
    const [there, below] = await Promise.all([ask({ name, type: 'A' }), ask({ name: random, type: 'A' })]);
    return { name, zone, there, below };
  };
  const askingServers = async (): Promise<Observation['nameServers']> => {
    const zone = await zoning;
    const servers = zone ? await nameServers.serversOf(zone, asker) : [];
    return Promise.all(
      servers.map(async (server) => {
        const askServer = (question: Question) => replyTo(nameServers.ask(server, question, asker));
        const [lookup, txt] = await Promise.all([
          lookUp(hostname, askServer),
          ownership ? askServer({ name: ownership.name, type: 'TXT' }) : null,
        ]);
        return { name: server.name, lookup, txt };
      }),
    );
  };
  const askingParent = async () => {
    const zone = await zoning;
    return withTimeLimit(DELEGATION_MS, signal, async (within) =>
      zone ? delegationOf(nameServers, zone, { projectId, signal: within }) : null,
    );
  };
  const askingOwner = async () => {
    if (!ownership) return null;
    const txtOf = (name: string) => ask({ name, type: 'TXT' });
    const [txt, atHost] = await Promise.all([txtOf(ownership.name), txtOf(hostname)]);
    return { ...ownership, txt, atHost };
  };

  const [cut, zone, seen, platform, sibling, doubled, answers, delegation, proof] = await Promise.all([
    cutting,
    zoning,
    following(),
    lookUp(platformHost, ask),
    lookUp(siblingOf(hostname), ask),
    doubling(),
    askingServers(),
    askingParent(),
    askingOwner(),
  ]);
  return {
    hostname,
    platformHost,
    isApex: isApexOf(cut) ?? isApex,
    zone,
    registrable,
    isOrphan: cut.zone !== null && zone === null,
    ...seen,
    platform,
    sibling,
    doubled,
    nameServers: answers,
    delegation,
    ownership: proof,
    atMs: now(),
  };
}

/**
 * Whether the name is the apex of a zone; null = unknown. A registry's zone can't deny it: it does not know unregistered
 * domains, nor a registered domain that breaks the rules with a CNAME.
 */
export function isApexOf(cut: ZoneCut): boolean | null {
  return cut.isApex === false && ownZone(cut) === null ? null : cut.isApex;
}

/** Null = not found, or the zone of a registry. */
export function ownZone({ zone }: ZoneCut): Zone | null {
  return zone && !isPublicSuffix(zone.name) ? zone : null;
}

/** A random name next to a subdomain, or below a registrable domain, because the names next to that belong to others. */
export function siblingOf(hostname: string): string {
  const parent = hostname.slice(hostname.indexOf('.') + 1);
  return nameBelow(isPublicSuffix(parent) || parent === hostname ? hostname : parent);
}

function nameBelow(name: string): string {
  return `probe-${randomBytes(6).toString('hex')}.${name}`;
}

function isPublicSuffix(name: string): boolean {
  return getPublicSuffix(name) === name;
}
