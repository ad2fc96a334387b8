import { DnsUnreachable } from '../../dns/dns-unreachable.js';
import type { NameServers } from '../../dns/name-servers.js';
import type { Resolver } from '../../dns/resolver.js';
import { startDeadline } from '../../kernel/deadline.js';
import { diagnose, type Verdict } from './diagnose.js';
import type { Reply } from './evidence.js';
import { addressSet } from './judgement.js';
import { type Ask, isPublicSuffix, type Lookup, lookUp, replyTo, siblingOf } from './lookup.js';
import { isApexOf, observe, type Subject } from './observation.js';
import { repliesThatCount, textsOf } from './ownership-findings.js';
import { leadsTo } from './record-findings.js';

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
    const deadline = startDeadline(INSPECTION_MS, signal);
    try {
      const { resolver, nameServers, platformHost, now } = this;
      const setting = { resolver, nameServers, platformHost, now };
      const observation = await observe(setting, subject, deadline.signal);
      return { ...diagnose(observation), isApex: observation.isApex, atMs: observation.atMs };
    } finally {
      deadline.cancelWork();
    }
  }

  /**
   * The state of a name in DNS before its owner gets instructions. `leadsHere` is true for any record that already brings
   * visitors of the name here. Answers within 1.5 s.
   */
  async survey(projectId: bigint, hostname: string): Promise<Survey> {
    const deadline = startDeadline(INSPECTION_MS);
    try {
      const asker = { projectId, signal: deadline.signal };
      const ask: Ask = (question) => replyTo(this.resolver.ask(question, { asker }));
      const beside = siblingOf(hostname);
      const [cut, host, sibling, platform] = await Promise.all([
        this.nameServers.cutOf(hostname, asker),
        lookUp(hostname, ask),
        lookUp(beside, ask),
        lookUp(this.platformHost, ask),
      ]);
      const ours = { a: addressSet(platform, 'a'), aaaa: addressSet(platform, 'aaaa') };
      const aim = { platformHost: this.platformHost, ours, isApex: false, zones: [] };
      const isBelow = beside.endsWith(`.${hostname}`);
      return {
        isApex: isApexOf(cut),
        leadsHere: leadsTo(host, aim) || unlessUnknown(host, platform),
        isUnderWildcard: !isBelow && (leadsTo(sibling, aim) || unlessUnknown(sibling, platform)),
      };
    } finally {
      deadline.cancelWork();
    }
  }

  /** The TXT records at `name`, which is in the zone of `hostname`, from any of its servers. Answers within 1.5 s. */
  async proofs(projectId: bigint, hostname: string, name: string): Promise<string[]> {
    const deadline = startDeadline(INSPECTION_MS);
    try {
      const asker = { projectId, signal: deadline.signal };
      const question = { name, type: 'TXT' } as const;
      const [cached, { zone }] = await Promise.all([
        replyTo(this.resolver.ask(question, { asker })),
        this.nameServers.cutOf(hostname, asker),
      ]);
      const isOwn = zone !== null && !isPublicSuffix(zone.name);
      const servers = isOwn ? await this.nameServers.serversOf(zone, asker) : [];
      const said = await Promise.all(
        servers.map((server) => replyTo(this.nameServers.ask(server, question, asker))),
      );
      // Other projects can use up the questions to a server. That must not make a cache's old proof count.
      const skipped = said.find((reply) => reply instanceof DnsUnreachable && reply.reason === 'not asked');
      return repliesThatCount(said, skipped ?? cached).flatMap(textsOf);
    } finally {
      deadline.cancelWork();
    }
  }
}

/** False when every question was answered. Null otherwise: a missing answer does not mean that the name points elsewhere. */
function unlessUnknown(...lookups: readonly Lookup[]): false | null {
  const replies = lookups.flatMap(({ cname, a, aaaa }) => [cname, a, aaaa]);
  const isAnswered = (reply: Reply) =>
    !(reply instanceof DnsUnreachable) && (reply.rcode === 'NOERROR' || reply.rcode === 'NXDOMAIN');
  return replies.every(isAnswered) ? false : null;
}
