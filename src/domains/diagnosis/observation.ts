import { getDomain } from 'tldts';
import type { Asker } from '../../dns/ask-server.js';
import { type Delegation, delegationOf } from '../../dns/delegation.js';
import type { Question } from '../../dns/dns-message.js';
import { isSendable } from '../../dns/dns-packets.js';
import { DnsUnreachable } from '../../dns/dns-unreachable.js';
import type { NameServer, NameServers, ZoneCut } from '../../dns/name-servers.js';
import type { Resolver } from '../../dns/resolver.js';
import { startDeadline } from '../../kernel/deadline.js';
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

/** Lookups of the name with a zone appended, and of a random name below: a wildcard record answers both. */
interface Doubled {
  zone: string;
  lookup: Lookup;
  below: Lookup;
}

/** All answers from DNS, without any judgement. */
export interface Observation {
  hostname: string;
  platformHost: string;
  isApex: boolean;
  /** Null = not found, or the zone of a registry. */
  zone: string | null;
  /** The domain, when it is not registered or has no name servers, so that only the registry answers. Null = it has some. */
  orphan: string | null;
  host: Lookup;
  /** The first refused question, repeated without DNSSEC validation; null = the resolver refused none. */
  unvalidated: Reply | null;
  /** The CNAME replies in order, when the resolver did not follow them to the end. */
  chain: Reply[];
  platform: Lookup;
  sibling: Lookup;
  /** Zones that a provider may append: the name's zone and the registrable domain. */
  zones: string[];
  /** Empty when the CNAME has the required value. */
  doubled: Doubled[];
  nameServers: { name: string; lookup: Lookup; txt: Reply | null }[];
  /** Null = unknown, or the zone of a registry. */
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

/** The delegation takes the most round trips, and is not worth the whole time of an inspection. */
const DELEGATION_MS = 900;

/** Asks all questions in parallel, until the asker's signal aborts. Only resolvers and name servers get packets, never the host. */
export async function observe(
  { resolver, nameServers, platformHost, now }: Setting,
  { projectId, hostname, isApex, ownership }: Subject,
  signal: AbortSignal,
): Promise<Observation> {
  const asker = { projectId, signal };
  const ask: Ask = (question) => replyTo(resolver.ask(question, { asker }));
  const registrable = getDomain(hostname) ?? hostname;
  const cutting = nameServers.cutOf(hostname, asker);
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
      refused ? replyTo(resolver.ask(refused.question, { asker, checkingDisabled: true })) : null,
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
    cutting.then((found) => askNameServers(nameServers, found, { hostname, ownership, asker })),
    cutting.then((found) => askDelegation(nameServers, found, asker)),
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
 * Whether the name is the apex of a zone; null = unknown. A registry's zone can't deny it: it does not know unregistered
 * domains, nor a registered domain that breaks the rules with a CNAME.
 */
export function isApexOf({ zone, isApex }: ZoneCut): boolean | null {
  return isApex === false && (!zone || isPublicSuffix(zone.name)) ? null : isApex;
}

interface Errand extends Pick<Subject, 'hostname' | 'ownership'> {
  asker: Asker;
}

async function askDelegation(
  nameServers: NameServers,
  { zone }: ZoneCut,
  { projectId, signal }: Asker,
): Promise<Delegation | null> {
  if (!zone || isPublicSuffix(zone.name)) return null;
  const deadline = startDeadline(DELEGATION_MS, signal);
  try {
    return await delegationOf(nameServers, zone, { projectId, signal: deadline.signal });
  } finally {
    deadline.cancelWork();
  }
}

async function askNameServers(
  nameServers: NameServers,
  { zone }: ZoneCut,
  { hostname, ownership, asker }: Errand,
): Promise<Observation['nameServers']> {
  const servers = zone && !isPublicSuffix(zone.name) ? await nameServers.serversOf(zone, asker) : [];
  const answers = servers.map(async (server: NameServer) => {
    const ask = (question: Question) => replyTo(nameServers.ask(server, question, asker));
    const [lookup, txt] = await Promise.all([
      lookUp(hostname, ask),
      ownership ? ask({ name: ownership.name, type: 'TXT' }) : null,
    ]);
    return { name: server.name, lookup, txt };
  });
  return Promise.all(answers);
}
