import { withTimeLimit } from '../../ground/kernel/deadline.js';
import type { Asker } from '../dns/ask-server.js';
import { DnsUnreachable, isDecisive } from '../dns/dns-message.js';
import { diagnose, type Inspection } from './diagnose.js';
import { leadsTo } from './judge.js';
import { ADDRESSES, type Ask, type Lookup, lookUp, wildcardParentOf } from './lookup.js';
import { type Dns, isApexOf, nameBelow, observe, ownZone, type Subject } from './observation.js';
import { repliesThatCount, textsOf } from './ownership.js';

/** Below the 1.5 s in which the caller must have the answer, even when DNS hangs. */
const INSPECTION_MS = 1_300;

/** Inspects a host name in DNS. Only resolvers and name servers get packets, never the host. */
export class Inspector {
  constructor(private readonly dns: Dns) {}

  /** Whether the name points here, and if not, why. Answers within 1.5 s. */
  async inspect(subject: Subject, signal?: AbortSignal): Promise<Inspection> {
    return diagnose(await withTimeLimit(INSPECTION_MS, signal, (end) => observe(this.dns, subject, end)));
  }

  /**
   * The state of a name in DNS before its owner gets instructions; null = DNS could not be asked. `leadsHere` is true for
   * any record that already brings visitors of the name here. Answers within 1.5 s.
   */
  survey(projectId: bigint, hostname: string) {
    return this.asking(projectId, async (ask, asker) => {
      const { nameServers, platformHost } = this.dns;
      const parent = wildcardParentOf(hostname);
      const [cut, host, sibling, platform] = await Promise.all([
        nameServers.cutOf(hostname, asker),
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
    return this.asking(projectId, async (ask, asker) => {
      const { nameServers } = this.dns;
      const question = { name, type: 'TXT' } as const;
      const [cached, zone] = await Promise.all([
        ask(question),
        nameServers.cutOf(hostname, asker).then(ownZone),
      ]);
      const servers = zone ? await nameServers.serversOf(zone, asker) : [];
      const said = await Promise.all(servers.map((server) => nameServers.ask(server, question, asker)));
      // Other projects can use up the questions to a server. That must not make a cache's old proof count.
      const skipped = said.find((reply) => reply instanceof DnsUnreachable && reply.reason === 'not asked');
      return repliesThatCount(said, skipped ?? cached).flatMap(textsOf);
    });
  }

  private asking<T>(projectId: bigint, work: (ask: Ask, asker: Asker) => Promise<T>): Promise<T> {
    return withTimeLimit(INSPECTION_MS, undefined, (signal) => {
      const asker = { projectId, signal };
      return work((question) => this.dns.resolver.ask(question, { asker }), asker);
    });
  }
}
