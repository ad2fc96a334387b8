import { getDomain } from 'tldts';
import { startDeadline } from '../deadline.js';
import { type Delegation, delegationOf } from '../dns/delegation.js';
import type { Question } from '../dns/dns-message.js';
import { isSendable } from '../dns/dns-packets.js';
import { DnsUnreachable } from '../dns/dns-unreachable.js';
import type { NameServer, NameServers, ZoneCut } from '../dns/name-servers.js';
import type { Resolver } from '../dns/resolver.js';
import type { Reply } from './evidence.js';
import {
  type Ask,
  followCnames,
  isPublicSuffix,
  type Lookup,
  lookUp,
  nameBelow,
  recordsOf,
  replyTo,
  siblingOf,
} from './lookup.js';

/** What is looked into. */
export interface Subject {
  hostname: string;
  /** What is known so far; DNS decides when it can be asked. */
  isApex: boolean;
  /** The TXT record that must be there; null = none. */
  ownership: Proof | null;
}

export interface Proof {
  name: string;
  value: string;
  /** Nobody demands it: what counts is whether another project's is there instead. */
  isAssumed?: boolean;
}

/** The name with a zone appended, and a name below that: where a wildcard answers, it answers both. */
interface Doubled {
  zone: string;
  lookup: Lookup;
  below: Lookup;
}

/** Everything that DNS said, and nothing of what it means. */
export interface Observation {
  hostname: string;
  platformHost: string;
  isApex: boolean;
  /** Null = not found, or the zone of a registry. */
  zone: string | null;
  /** The domain, when only its registry speaks for it: not registered, or without name servers. Null = there are some. */
  orphan: string | null;
  host: Lookup;
  /** What the resolver refused, once more without DNSSEC validation; null = it refused nothing. */
  unvalidated: Reply | null;
  /** The CNAMEs from one to the next, when the resolver did not follow them to an end. */
  chain: Reply[];
  platform: Lookup;
  sibling: Lookup;
  /** Zones that a provider may append: the zone of the name, and the registrable domain. */
  zones: string[];
  /** Empty when the CNAME is the one shown. */
  doubled: Doubled[];
  nameServers: { name: string; lookup: Lookup; txt: Reply | null }[];
  /** Null = not known, or the zone of a registry. */
  delegation: Delegation | null;
  /** `atHost`: the TXT records of the host name itself. */
  ownership: (Proof & { txt: Reply; atHost: Reply }) | null;
  atMs: number;
}

interface Setting {
  resolver: Resolver;
  nameServers: NameServers;
  platformHost: string;
  now: () => number;
}

/** The way to the zone above and back is the longest one; what it tells is not worth waiting for the end. */
const DELEGATION_MS = 900;

/** Asks everything at once, until `signal`. Sends packets to resolvers and name servers, never to the host itself. */
export async function observe(
  { resolver, nameServers, platformHost, now }: Setting,
  { hostname, isApex, ownership }: Subject,
  signal: AbortSignal,
): Promise<Observation> {
  const ask: Ask = (question) => replyTo(resolver.ask(question, { signal }));
  const registrable = getDomain(hostname) ?? hostname;
  const cutting = nameServers.cutOf(hostname, signal);
  const looking = lookUp(hostname, ask);

  const zonesOf = async () => {
    const { zone } = await cutting;
    return [...new Set([...(zone && !isPublicSuffix(zone.name) ? [zone.name] : []), registrable])];
  };
  const doubling = async (): Promise<Doubled[]> => {
    const [zones, { cname }] = await Promise.all([zonesOf(), looking]);
    if (recordsOf(cname).some(({ value }) => value === platformHost)) return [];
    const below = zones.map((zone) => ({ zone, name: nameBelow(`${hostname}.${zone}`) }));
    return Promise.all(
      below
        .filter(({ name }) => isSendable(name))
        .map(async ({ zone, name }) => {
          const [lookup, nothing] = await Promise.all([
            lookUp(`${hostname}.${zone}`, ask),
            lookUp(name, ask),
          ]);
          return { zone, lookup, below: nothing };
        }),
    );
  };
  const following = async () => {
    const host = await looking;
    const refused = [host.a, host.aaaa, host.cname].find(
      (reply) => !(reply instanceof DnsUnreachable) && reply.rcode === 'SERVFAIL',
    );
    const [unvalidated, chain] = await Promise.all([
      refused ? replyTo(resolver.ask(refused.question, { signal, checkingDisabled: true })) : null,
      followCnames(host, ask),
    ]);
    return { host, unvalidated, chain };
  };
  const owning = async () => {
    if (!ownership) return null;
    const txt = { name: ownership.name, type: 'TXT' } as const;
    const [there, atHost] = await Promise.all([ask(txt), ask({ ...txt, name: hostname })]);
    return { ...ownership, txt: there, atHost };
  };

  const [cut, zones, seen, platform, sibling, doubled, answers, delegation, proof] = await Promise.all([
    cutting,
    zonesOf(),
    following(),
    lookUp(platformHost, ask),
    lookUp(siblingOf(hostname), ask),
    doubling(),
    cutting.then((found) => askNameServers(nameServers, found, { hostname, ownership, signal })),
    cutting.then((found) => askDelegation(nameServers, found, signal)),
    owning(),
  ]);
  const isOrphan = cut.zone !== null && isPublicSuffix(cut.zone.name);
  return {
    hostname,
    platformHost,
    isApex: isApexOf(cut) ?? isApex,
    zone: isOrphan ? null : (cut.zone?.name ?? null),
    orphan: isOrphan ? registrable : null,
    ...seen,
    platform,
    sibling,
    zones,
    doubled,
    nameServers: answers,
    delegation,
    ownership: proof,
    atMs: now(),
  };
}

/**
 * Whether a zone begins at the name; null = nobody says. That none begins there says only a zone above which is not a
 * registry's: a registry knows nothing of domains that are not registered, nor of one that is a CNAME against the rules.
 */
export function isApexOf({ zone, isApex }: ZoneCut): boolean | null {
  return isApex === false && (!zone || isPublicSuffix(zone.name)) ? null : isApex;
}

interface Errand extends Pick<Subject, 'hostname' | 'ownership'> {
  signal: AbortSignal;
}

async function askDelegation(
  nameServers: NameServers,
  { zone }: ZoneCut,
  signal: AbortSignal,
): Promise<Delegation | null> {
  if (!zone || isPublicSuffix(zone.name)) return null;
  const deadline = startDeadline(DELEGATION_MS, signal);
  try {
    return await delegationOf(nameServers, zone, deadline.signal);
  } finally {
    deadline.end();
  }
}

async function askNameServers(
  nameServers: NameServers,
  { zone }: ZoneCut,
  { hostname, ownership, signal }: Errand,
): Promise<Observation['nameServers']> {
  const servers = zone && !isPublicSuffix(zone.name) ? await nameServers.serversOf(zone, signal) : [];
  const answers = servers.map(async (server: NameServer) => {
    const ask = (question: Question) => replyTo(nameServers.ask(server, question, signal));
    const [lookup, txt] = await Promise.all([
      lookUp(hostname, ask),
      ownership ? ask({ name: ownership.name, type: 'TXT' }) : null,
    ]);
    return { name: server.name, lookup, txt };
  });
  return Promise.all(answers);
}
