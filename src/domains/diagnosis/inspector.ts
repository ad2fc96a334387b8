import { withTimeLimit } from '../../ground/kernel/deadline.js';
import type { Asker } from '../dns/ask-server.js';
import { DnsUnreachable } from '../dns/dns-message.js';
import type { NameServers } from '../dns/name-servers.js';
import type { Resolver } from '../dns/resolver.js';
import { diagnose, type Verdict } from './diagnose.js';
import { leadsTo, oursIn } from './judge.js';
import { type Ask, isDecisive, type Lookup, lookUp, repliesOf, replyTo } from './lookup.js';
import { isApexOf, observe, ownZone, type Subject, siblingOf } from './observation.js';
import { repliesThatCount, textsOf } from './ownership.js';

/** Below the 1.5 s in which the caller must have the answer, even when DNS hangs. */
const INSPECTION_MS = 1_300;

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

/** Inspects a host name in DNS. Never sends anything to the host itself. */
export class Inspector {
  constructor(
    private readonly resolver: Resolver,
    private readonly nameServers: NameServers,
    private readonly platformHost: string,
    private readonly now: () => number,
  ) {}

  /** Whether the name points here, and if not, why. Answers within 1.5 s. */
  async inspect(subject: Subject, signal?: AbortSignal): Promise<Inspection> {
    const { resolver, nameServers, platformHost, now } = this;
    const observer = { resolver, nameServers, platformHost, now };
    const seen = await withTimeLimit(INSPECTION_MS, signal, (end) => observe(observer, subject, end));
    return { ...diagnose(seen), isApex: seen.isApex, atMs: seen.atMs };
  }

  /**
   * The state of a name in DNS before its owner gets instructions. `leadsHere` is true for any record that already brings
   * visitors of the name here. Answers within 1.5 s.
   */
  survey(projectId: bigint, hostname: string): Promise<Survey> {
    return this.inTime(projectId, async (asker) => {
      const ask: Ask = (question) => replyTo(this.resolver.ask(question, { asker }));
      const beside = siblingOf(hostname);
      const [cut, host, sibling, platform] = await Promise.all([
        this.nameServers.cutOf(hostname, asker),
        lookUp(hostname, ask),
        lookUp(beside, ask),
        lookUp(this.platformHost, ask),
      ]);
      const isHere = (lookup: Lookup) => {
        if (leadsTo(repliesOf(lookup), this.platformHost, oursIn(platform))) return true;
        // A missing answer does not mean that the name points elsewhere.
        return [...repliesOf(lookup), ...repliesOf(platform)].every(isDecisive) ? false : null;
      };
      return {
        isApex: isApexOf(cut),
        leadsHere: isHere(host),
        isUnderWildcard: beside.endsWith(`.${hostname}`) ? false : isHere(sibling),
      };
    });
  }

  /** The TXT records at `name`, which is in the zone of `hostname`, from any of its servers. Answers within 1.5 s. */
  proofs(projectId: bigint, hostname: string, name: string): Promise<string[]> {
    return this.inTime(projectId, async (asker) => {
      const question = { name, type: 'TXT' } as const;
      const [cached, zone] = await Promise.all([
        replyTo(this.resolver.ask(question, { asker })),
        this.nameServers.cutOf(hostname, asker).then(ownZone),
      ]);
      const servers = zone ? await this.nameServers.serversOf(zone, asker) : [];
      const said = await Promise.all(
        servers.map((server) => replyTo(this.nameServers.ask(server, question, asker))),
      );
      // Other projects can use up the questions to a server. That must not make a cache's old proof count.
      const skipped = said.find((reply) => reply instanceof DnsUnreachable && reply.reason === 'not asked');
      return repliesThatCount(said, skipped ?? cached).flatMap(textsOf);
    });
  }

  private inTime<T>(projectId: bigint, work: (asker: Asker) => Promise<T>): Promise<T> {
    return withTimeLimit(INSPECTION_MS, undefined, (signal) => work({ projectId, signal }));
  }
}
