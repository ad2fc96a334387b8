import { randomBytes } from 'node:crypto';
import { getDomain } from 'tldts';
import { withTimeLimit } from '../../ground/kernel/deadline.js';
import type { Asker } from '../dns/ask-server.js';
import { delegationOf } from '../dns/delegation.js';
import { DnsUnreachable, isDecisive, valuesOf } from '../dns/dns-message.js';
import { isSendable } from '../dns/dns-packets.js';
import type { NameServer, NameServers, Zone, ZoneCut } from '../dns/name-servers.js';
import type { Resolver } from '../dns/resolver.js';
import { diagnose, type Verdict } from './diagnose.js';
import { ADDRESSES, leadsTo } from './judge.js';
import { type Ask, followCnames, isPublicSuffix, type Lookup, lookUp, wildcardParentOf } from './lookup.js';
import type { Observation, Subject } from './observation.js';
import { repliesThatCount, textsOf } from './ownership.js';

/** Below the 1.5 s in which the caller must have the answer, even when DNS hangs. */
const INSPECTION_MS = 1_300;
/** The delegation takes the most round trips, and is not worth the whole time of an inspection. */
const DELEGATION_MS = 900;

export interface Inspection extends Verdict {
  isApex: boolean;
  atMs: number;
}

export interface Survey {
  /** Whether the name is the apex of a zone; null = DNS could not be asked. */
  isApex: boolean | null;
  /** Null = DNS could not be asked. */
  leadsHere: boolean | null;
  isUnderWildcard: boolean | null;
}

/** Inspects a host name in DNS. Only resolvers and name servers get packets, never the host. */
export class Inspector {
  constructor(
    private readonly resolver: Resolver,
    private readonly nameServers: NameServers,
    private readonly platformHost: string,
    private readonly now: () => number,
  ) {}

  /** Whether the name points here, and if not, why. Answers within 1.5 s. */
  async inspect(subject: Subject, signal?: AbortSignal): Promise<Inspection> {
    const seen = await withTimeLimit(INSPECTION_MS, signal, (end) => this.observe(subject, end));
    return { ...diagnose(seen), isApex: seen.isApex, atMs: seen.atMs };
  }

  /**
   * The state of a name in DNS before its owner gets instructions. `leadsHere` is true for any record that already brings
   * visitors of the name here. Answers within 1.5 s.
   */
  survey(projectId: bigint, hostname: string): Promise<Survey> {
    return withTimeLimit(INSPECTION_MS, undefined, async (signal) => {
      const { platformHost } = this;
      const asker = { projectId, signal };
      const ask = this.resolving(asker);
      const parent = wildcardParentOf(hostname);
      const [cut, host, sibling, platform] = await Promise.all([
        this.nameServers.cutOf(hostname, asker),
        lookUp(hostname, ask),
        lookUp(nameBelow(parent), ask),
        lookUp(platformHost, ask, ADDRESSES),
      ]);
      const isHere = (lookup: Lookup) => {
        if (leadsTo(lookup, { platformHost, platform })) return true;
        // A missing answer does not mean that the name points elsewhere.
        return [...lookup, ...platform].every(isDecisive) ? false : null;
      };
      return {
        isApex: isApexOf(cut),
        leadsHere: isHere(host),
        isUnderWildcard: parent === hostname ? false : isHere(sibling),
      };
    });
  }

  /** The TXT records at `name`, which is in the zone of `hostname`, from any of its servers. Answers within 1.5 s. */
  proofs(projectId: bigint, hostname: string, name: string): Promise<string[]> {
    return withTimeLimit(INSPECTION_MS, undefined, async (signal) => {
      const asker = { projectId, signal };
      const question = { name, type: 'TXT' } as const;
      const [cached, zone] = await Promise.all([
        this.resolving(asker)(question),
        this.nameServers.cutOf(hostname, asker).then(ownZone),
      ]);
      const servers = zone ? await this.nameServers.serversOf(zone, asker) : [];
      const said = await Promise.all(servers.map((server) => this.asking(server, asker)(question)));
      // Other projects can use up the questions to a server. That must not make a cache's old proof count.
      const skipped = said.find((reply) => reply instanceof DnsUnreachable && reply.reason === 'not asked');
      return repliesThatCount(said, skipped ?? cached).flatMap(textsOf);
    });
  }

  /** Asks all questions in parallel, until `signal` aborts. */
  private async observe(
    { projectId, hostname, isApex, ownership }: Subject,
    signal: AbortSignal,
  ): Promise<Observation> {
    const { resolver, nameServers, platformHost } = this;
    const asker = { projectId, signal };
    const ask = this.resolving(asker);
    const registrable = getDomain(hostname) ?? hostname;
    const cutting = nameServers.cutOf(hostname, asker);
    const zoning = cutting.then(ownZone);
    const looking = lookUp(hostname, ask);

    const askUnvalidated = async () => {
      const refused = (await looking).find(({ rcode }) => rcode === 'SERVFAIL');
      return refused ? resolver.ask(refused.question, { asker, checkingDisabled: true }) : null;
    };
    const askDoubled = async () => {
      const [found, host] = await Promise.all([zoning, looking]);
      const zone = found?.name ?? registrable;
      const name = `${hostname}.${zone}`;
      const random = nameBelow(name);
      if (valuesOf(host, 'CNAME', hostname).includes(platformHost) || !isSendable(random)) return null;
      const [there, below] = await Promise.all([ask({ name, type: 'A' }), ask({ name: random, type: 'A' })]);
      return { name, zone, there, below };
    };
    const askServers = async () => {
      const zone = await zoning;
      const servers = zone ? await nameServers.serversOf(zone, asker) : [];
      return Promise.all(
        servers.map(async (server) => {
          const askServer = this.asking(server, asker);
          const [lookup, txt] = await Promise.all([
            lookUp(hostname, askServer),
            ownership ? askServer({ name: ownership.name, type: 'TXT' }) : null,
          ]);
          return { name: server.name, lookup, txt };
        }),
      );
    };
    const askParent = async () => {
      const zone = await zoning;
      return withTimeLimit(DELEGATION_MS, signal, async (within) =>
        zone ? delegationOf(nameServers, zone, { projectId, signal: within }) : null,
      );
    };
    const askOwner = async () => {
      if (!ownership) return null;
      const askText = (name: string) => ask({ name, type: 'TXT' });
      const [txt, atHost] = await Promise.all([askText(ownership.name), askText(hostname)]);
      return { ...ownership, txt, atHost };
    };

    const [cut, host, unvalidated, chain, platform, sibling, doubled, servers, delegation, proof] =
      await Promise.all([
        cutting,
        looking,
        askUnvalidated(),
        looking.then((lookup) => followCnames(hostname, lookup, ask)),
        lookUp(platformHost, ask, ADDRESSES),
        lookUp(nameBelow(wildcardParentOf(hostname)), ask),
        askDoubled(),
        askServers(),
        askParent(),
        askOwner(),
      ]);
    const zone = ownZone(cut);
    return {
      hostname,
      platformHost,
      isApex: isApexOf(cut) ?? isApex,
      zone,
      registrable,
      isOrphan: cut.zone !== null && zone === null,
      host,
      unvalidated,
      chain,
      platform,
      sibling,
      doubled,
      nameServers: servers,
      delegation,
      ownership: proof,
      atMs: this.now(),
    };
  }

  private resolving(asker: Asker): Ask {
    return (question) => this.resolver.ask(question, { asker });
  }

  private asking(server: NameServer, asker: Asker): Ask {
    return (question) => this.nameServers.ask(server, question, asker);
  }
}

/**
 * Whether the name is the apex of a zone; null = unknown. A registry's zone can't deny it: it does not know unregistered
 * domains, nor a registered domain that breaks the rules with a CNAME.
 */
function isApexOf(cut: ZoneCut): boolean | null {
  return cut.isApex === false && ownZone(cut) === null ? null : cut.isApex;
}

/** Null = not found, or the zone of a registry. */
function ownZone({ zone }: ZoneCut): Zone | null {
  return zone && !isPublicSuffix(zone.name) ? zone : null;
}

/** A random name, which only a wildcard record answers. */
function nameBelow(name: string): string {
  return `probe-${randomBytes(6).toString('hex')}.${name}`;
}
