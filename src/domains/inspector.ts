import { startDeadline } from '../deadline.js';
import { DnsUnreachable } from '../dns/dns-unreachable.js';
import type { NameServers } from '../dns/name-servers.js';
import type { Resolver } from '../dns/resolver.js';
import { diagnose, type Verdict } from './diagnose.js';
import type { Reply } from './evidence.js';
import { addressSet } from './judgement.js';
import { type Ask, type Lookup, lookUp, replyTo, siblingOf } from './lookup.js';
import { isApexOf, observe, type Subject } from './observation.js';
import { leadsTo } from './record-findings.js';

/** Short of the 1.5 s in which whoever waits for it must have the answer, whatever DNS does. */
const INSPECTION_MS = 1_300;

export interface Inspection extends Verdict {
  isApex: boolean;
  atMs: number;
}

export interface Survey {
  /** Whether a zone begins at the name; null = could not ask. */
  isApex: boolean | null;
  /** Null = could not ask. */
  leadsHere: boolean | null;
  isUnderWildcard: boolean | null;
}

/** Looks at a host name in DNS. Nothing is ever sent to the host itself. */
export class Inspector {
  constructor(
    private readonly resolver: Resolver,
    private readonly nameServers: NameServers,
    private readonly platformHost: string,
    private readonly now: () => number,
  ) {}

  /** Whether the name leads here, and if not, why. Answers within 1.5 s. */
  async inspect(subject: Subject, signal?: AbortSignal): Promise<Inspection> {
    const deadline = startDeadline(INSPECTION_MS, signal);
    try {
      const { resolver, nameServers, platformHost, now } = this;
      const setting = { resolver, nameServers, platformHost, now };
      const observation = await observe(setting, subject, deadline.signal);
      return { ...diagnose(observation), isApex: observation.isApex, atMs: observation.atMs };
    } finally {
      deadline.end();
    }
  }

  /**
   * What is known of a name before anybody was told what to do. `leadsHere` is meant in its widest sense: whatever already
   * brings visitors of the name here. Answers within 1.5 s.
   */
  async survey(hostname: string): Promise<Survey> {
    const deadline = startDeadline(INSPECTION_MS);
    try {
      const { signal } = deadline;
      const ask: Ask = (question) => replyTo(this.resolver.ask(question, { signal }));
      const beside = siblingOf(hostname);
      const [cut, host, sibling, platform] = await Promise.all([
        this.nameServers.cutOf(hostname, signal),
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
      deadline.end();
    }
  }
}

/** False when everything was answered. Null otherwise: silence does not say that nothing leads here. */
function unlessUnknown(...lookups: readonly Lookup[]): false | null {
  const replies = lookups.flatMap(({ cname, a, aaaa }) => [cname, a, aaaa]);
  const isAnswered = (reply: Reply) =>
    !(reply instanceof DnsUnreachable) && (reply.rcode === 'NOERROR' || reply.rcode === 'NXDOMAIN');
  return replies.every(isAnswered) ? false : null;
}
