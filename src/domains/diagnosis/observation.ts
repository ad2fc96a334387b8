import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { getDomain, getPublicSuffix } from 'tldts';
import { withTimeLimit } from '../../ground/kernel/deadline.js';
import { delegationOf, referredZone } from '../dns/delegation.js';
import {
  type Answer,
  DnsUnreachable,
  isDecisive,
  type Question,
  type RecordType,
  valuesOf,
} from '../dns/dns-message.js';
import type { NameServers, Zone, ZoneCut } from '../dns/name-servers.js';
import type { Resolver } from '../dns/resolver.js';
import type { OwnershipRecord } from './dns-records.js';

/** The delegation takes the most round trips, and is not worth the whole time of an inspection. */
const DELEGATION_MS = 900;
const MAX_CHAIN = 8;
/** A resolver may need longer than an inspection to give up on a broken chain of trust. */
const SLOW_MS = 600;

/** The domain to observe. */
export interface Subject {
  projectId: bigint;
  hostname: string;
  /** The previous knowledge, used when DNS can't be asked. */
  isApex: boolean;
  /** The TXT record to look for; null = none. */
  ownership: Proof | null;
}

export interface Proof extends OwnershipRecord {
  /** The proof is not required; only another project's proof in its place matters. */
  isAssumed?: boolean;
}

export interface Dns {
  resolver: Resolver;
  nameServers: NameServers;
  platformHost: string;
  now: () => number;
}

/** A server's replies about the target of a name. */
export type Lookup = readonly Answer[];

type Ask = (question: Question) => Promise<Answer>;

export const ADDRESSES = ['A', 'AAAA'] as const;
const TARGETS = ['CNAME', ...ADDRESSES] as const;

export type Observation = Awaited<ReturnType<typeof observe>>;

/** All answers from DNS, without any judgement. Asks all questions in parallel, until `signal` aborts. */
export async function observe(
  { resolver, nameServers, platformHost, now }: Dns,
  { projectId, hostname, isApex, ownership }: Subject,
  signal: AbortSignal,
) {
  const asker = { projectId, signal };
  const ask: Ask = (question) => resolver.ask(question, { asker });
  const registrable = getDomain(hostname) ?? hostname;
  const cutting = nameServers.cutOf(hostname, asker);
  const referring = cutting.then((cut) => {
    const isKnown = ownZone(cut) !== null && ownZone(cut)?.nameServers.length !== 0 && !cut.isUnsure;
    return isKnown ? null : referredZone(nameServers, { name: hostname, cut, registrable }, asker);
  });
  const zoning = Promise.all([cutting, referring]).then(([cut, referred]) => referred ?? ownZone(cut));
  const looking = lookUp(hostname, (question) => askAgain(question, ask));

  const validate = async () => {
    const slow = sleep(SLOW_MS, null, { signal }).catch(() => null);
    const lookup = await Promise.race([looking, slow]);
    const failed = lookup === null ? [] : lookup.filter(({ rcode }) => rcode === 'SERVFAIL');
    const question = lookup === null ? addressOf(hostname) : failed[0]?.question;
    if (!question) return null;
    const zone = await Promise.race([zoning, slow]);
    const askUnchecked: Ask = (one) => resolver.ask(one, { asker, checkingDisabled: true });
    const [unchecked, ds] = await Promise.all([
      askUnchecked(question),
      askUnchecked({ name: zone?.name ?? registrable, type: 'DS' }),
    ]);
    // A slow answer may be in the resolver's cache now.
    return { unchecked, ds, checked: await ask(question) };
  };
  const askDoubled = async () => {
    const [found, host] = await Promise.all([zoning, looking]);
    const zone = found?.name ?? registrable;
    const name = `${hostname}.${zone}`;
    if (valuesOf(host, 'CNAME', hostname).includes(platformHost)) return null;
    const random = nameBelow(name);
    const [there, below] = await Promise.all([ask({ name, type: 'A' }), ask({ name: random, type: 'A' })]);
    return { name, zone, there, below };
  };
  const askServers = async () => {
    const zone = await zoning;
    const servers = zone ? await nameServers.serversOf(zone, asker) : [];
    return Promise.all(
      servers.map(async (server) => {
        const askServer: Ask = (question) => nameServers.ask(server, question, asker);
        // The proof of ownership is asked first: the exchanges of a second are bounded, and a move depends on it.
        const [txt, lookup] = await Promise.all([
          ownership ? askServer({ name: ownership.name, type: 'TXT' }) : null,
          lookUp(hostname, askServer),
        ]);
        return { name: server.name, lookup, txt };
      }),
    );
  };
  const askParent = async () => {
    const [zone, referred] = await Promise.all([zoning, referring]);
    if (referred) return null;
    return withTimeLimit(DELEGATION_MS, signal, async (within) =>
      zone ? delegationOf(nameServers, zone, { projectId, signal: within }) : null,
    );
  };
  const askOwner = async () => {
    if (!ownership) return null;
    const askText = (name: string) => ask({ name, type: 'TXT' });
    const parent = ownership.name.slice(ownership.name.indexOf('.') + 1);
    const [txt, atHost, beside] = await Promise.all([
      askText(ownership.name),
      askText(hostname),
      askText(nameBelow(parent)),
    ]);
    return { ...ownership, txt, atHost, beside };
  };

  /** A record below the name: a wildcard record answers only if the name itself has no record (RFC 4592 §2.2.2). */
  const askBelow = async () => (ownership ? ask(addressOf(nameBelow(hostname))) : null);

  const seen = await allOf({
    hostname,
    platformHost,
    isApex: Promise.all([cutting, referring]).then(
      ([cut, referred]) => isApexOf(cut, hostname, referred) ?? isApex,
    ),
    /** Null = not found, or the zone of a registry. */
    zone: zoning,
    /** Only the zone above names its servers: no resolver has validated them, so they can't prove ownership. D-64. */
    isZoneReferred: referring.then((referred) => referred !== null),
    registrable,
    /** Only the registry's zone has the domain: it is not registered, or has no name servers. */
    isOrphan: Promise.all([cutting, zoning]).then(([cut, zone]) => cut.zone !== null && zone === null),
    host: looking,
    /** A question that failed, first without DNSSEC validation, then as usual; null = none failed. */
    validation: validate(),
    chain: looking.then((lookup) => followCnames(hostname, lookup, ask)),
    platform: lookUp(platformHost, ask, ADDRESSES),
    /** Of a random name, which only a wildcard record answers. */
    sibling: lookUp(nameBelow(wildcardParentOf(hostname)), ask),
    /** Of a random name below the host; null = no record below it is wanted. */
    below: askBelow(),
    /** The addresses of the name with its zone appended, and of a random name below: a wildcard record answers both. */
    doubled: askDoubled(),
    nameServers: askServers(),
    /** Null = unknown, or the zone of a registry. */
    delegation: askParent(),
    /** `atHost`: the TXT records of the host name itself. `beside`: of a random name next to the proof. */
    ownership: askOwner(),
  });
  // Cut short = the time ended before all questions were asked and answered.
  return { ...seen, isCutShort: signal.aborted, atMs: now() };
}

/**
 * Whether the name is the apex of a zone; null = unknown. A registry's zone can't deny it: it does not know unregistered
 * domains, nor a registered domain that breaks the rules with a CNAME.
 */
function isApexOf(cut: ZoneCut, hostname: string, referred: Zone | null): boolean | null {
  if (referred?.name === hostname) return true;
  return cut.isApex === false && ownZone(cut) === null ? null : cut.isApex;
}

/** Null = not found, or the zone of a registry. */
function ownZone({ zone }: ZoneCut): Zone | null {
  return zone && !isPublicSuffix(zone.name) ? zone : null;
}

/** A random name, which only a wildcard record answers. */
const nameBelow = (name: string) => `probe-${randomBytes(6).toString('hex')}.${name}`;
const addressOf = (name: string): Question => ({ name, type: 'A' });

/** The second answer if only that is one: a single SERVFAIL may be a limit of questions, or a lost packet. */
async function askAgain(question: Question, ask: Ask): Promise<Answer> {
  const first = await ask(question);
  const second = first.rcode === 'SERVFAIL' ? await ask(question) : first;
  return isDecisive(second) ? second : first;
}

function lookUp(name: string, ask: Ask, types: readonly RecordType[] = TARGETS): Promise<Lookup> {
  return Promise.all(types.map((type) => ask({ name, type })));
}

/**
 * The names of a chain of CNAMEs; the last name of a loop occurs twice. `replies` has the steps that the resolver did not
 * follow. A resolver answers a loop with SERVFAIL; a resolver that does not follow CNAMEs answers with the first step only.
 */
async function followCnames(
  name: string,
  lookup: Lookup,
  ask: Ask,
): Promise<{ names: string[]; replies: Answer[] }> {
  const isFollowed = lookup.some(isMissing) || ADDRESSES.some((type) => valuesOf(lookup, type).length > 0);
  const names = [name];
  const replies: Answer[] = [];
  const targetOf = async (last: string) => {
    const [target] = valuesOf([...lookup, ...replies], 'CNAME', last);
    if (target || last === name || isFollowed || replies.length === MAX_CHAIN) return target;
    replies.push(await ask({ name: last, type: 'CNAME' }));
    return valuesOf(replies.slice(-1), 'CNAME', last)[0];
  };
  let target = await targetOf(name);
  while (target && !names.includes(target)) {
    names.push(target);
    target = await targetOf(target);
  }
  return { names: target ? [...names, target] : names, replies };
}

/** The replies of a lookup that have records; all replies when none has. */
export function tellingReplies(lookup: Lookup): Lookup {
  const full = lookup.filter(({ records }) => records.length > 0);
  return full.length > 0 ? full : lookup;
}

/** Whether the name, or the end of its chain of CNAMEs, does not exist. */
export function isMissing({ rcode }: Answer): boolean {
  return rcode === 'NXDOMAIN';
}

export function isAuthority(reply: Answer): boolean {
  return isDecisive(reply) && reply.isAuthoritative;
}

/** Whether a server answered without saying which records exist. */
export function isRefusal(reply: Answer): boolean {
  return !isDecisive(reply) && !(reply instanceof DnsUnreachable);
}

/**
 * The name whose wildcard record would answer for `hostname`: its parent. For a registrable domain the name itself, because
 * the names next to that belong to others.
 */
export function wildcardParentOf(hostname: string): string {
  const parent = hostname.slice(hostname.indexOf('.') + 1);
  return isPublicSuffix(parent) || parent === hostname ? hostname : parent;
}

const isPublicSuffix = (name: string) => getPublicSuffix(name) === name;

async function allOf<T extends object>(parts: T): Promise<{ [Name in keyof T]: Awaited<T[Name]> }> {
  const awaited = Object.entries(parts).map(async ([name, part]) => [name, await part]);
  return Object.fromEntries(await Promise.all(awaited));
}
