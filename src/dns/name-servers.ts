import type { Config, DnsServer } from '../config/config.js';
import { askServer } from './ask-server.js';
import type { Answer, Question, RecordType } from './dns-message.js';
import { DnsUnreachable } from './dns-unreachable.js';
import { isPrivateAddress } from './private-addresses.js';
import type { Resolver } from './resolver.js';
import { Targets } from './targets.js';

const MAX_NAME_SERVERS = 8;
/** How many names are tried as the zone: the name itself, then its parents. */
const MAX_CUTS = 6;
const QUESTION_MS = 500;

export interface Zone {
  name: string;
  /** Host names, sorted. */
  nameServers: string[];
}

export interface ZoneCut {
  /** Null = not found, or DNS could not be asked. */
  zone: Zone | null;
  /** Whether the name is the apex of a zone; null = unknown. */
  isApex: boolean | null;
}

export interface NameServer {
  /** Host name. */
  name: string;
  server: DnsServer;
}

/** Finds the name servers of a zone, and asks each of them directly, without caches. */
export class NameServers {
  private readonly targets = new Targets();

  constructor(
    private readonly resolver: Resolver,
    private readonly settings: Pick<Config, 'nameServerPort' | 'privateNameServers'>,
    private readonly now: () => number,
  ) {}

  /** The zone that contains `name`. Never throws. */
  async cutOf(name: string, signal?: AbortSignal): Promise<ZoneCut> {
    const cuts = await Promise.all(
      namesUpward(name).map(async (cut) => {
        const [soa, ns] = await Promise.all([
          this.askResolver(cut, 'SOA', signal),
          this.askResolver(cut, 'NS', signal),
        ]);
        return { cut, soa, ns };
      }),
    );
    const found = cuts.map(({ cut, soa, ns }) => zoneNameOf(cut, soa, ns)).find((zone) => zone !== null);
    const nameServers = cuts.find(({ cut }) => cut === found)?.ns ?? null;
    return {
      zone: found === undefined ? null : { name: found, nameServers: nameServersIn(nameServers, found) },
      isApex: beginsAt(name, cuts[0]?.soa ?? null, cuts[0]?.ns ?? null),
    };
  }

  /**
   * The zone's name servers that may be asked, at most 8, with one address each. Servers with private addresses are left
   * out: a zone's owner could otherwise direct packets into our network. Never throws.
   */
  async serversOf(zone: Zone, signal?: AbortSignal): Promise<NameServer[]> {
    const found = await Promise.all(
      zone.nameServers.slice(0, MAX_NAME_SERVERS).map(async (name) => {
        const answers = await Promise.all([
          this.askResolver(name, 'A', signal),
          this.askResolver(name, 'AAAA', signal),
        ]);
        const addresses = answers.flatMap((answer) =>
          (answer?.records ?? [])
            .filter(({ type }) => type === answer?.question.type)
            .map(({ value }) => value),
        );
        const address = addresses.find((ip) => this.settings.privateNameServers || !isPrivateAddress(ip));
        return address ? [{ name, server: { address, port: this.settings.nameServerPort } }] : [];
      }),
    );
    // Several names with one address would multiply the questions to that server.
    const byAddress = new Map(found.flat().map((entry) => [entry.server.address, entry]));
    return [...byAddress.values()];
  }

  /** A name server's own answer. Throws `DnsUnreachable` after at most 500 ms. */
  async ask({ server }: NameServer, question: Question, signal?: AbortSignal): Promise<Answer> {
    if (!this.targets.mayAsk(server.address)) {
      throw new DnsUnreachable(server, question, 'not asked', this.now());
    }
    return askServer(server, question, {
      recursionDesired: false,
      timeoutMs: QUESTION_MS,
      signal,
      asker: signal ?? this,
      now: this.now,
    });
  }

  /** Null = DNS could not be asked. */
  private async askResolver(name: string, type: RecordType, signal?: AbortSignal): Promise<Answer | null> {
    try {
      return await this.resolver.ask({ name, type }, { signal });
    } catch (error) {
      if (error instanceof DnsUnreachable) return null;
      throw error;
    }
  }
}

/** The name and its parents, without the top-level domain unless that is the name. */
function namesUpward(name: string): string[] {
  const labels = name.split('.');
  return labels
    .map((_, index) => labels.slice(index).join('.'))
    .slice(0, Math.max(1, labels.length - 1))
    .slice(0, MAX_CUTS);
}

function isAnswer(answer: Answer | null): answer is Answer {
  return answer !== null && ['NOERROR', 'NXDOMAIN'].includes(answer.rcode);
}

/** The zone named by the answers for a name. A CNAME is ignored: its answer names the zone of the target. */
function zoneNameOf(name: string, soa: Answer | null, ns: Answer | null): string | null {
  if (beginsAt(name, soa, ns)) return name;
  if (!isAnswer(soa) || soa.records.length > 0) return null;
  const owner = soa.authority.find(({ type }) => type === 'SOA')?.name;
  return owner && name.endsWith(`.${owner}`) ? owner : null;
}

/** Null = unknown: a negative answer without an SOA does not come from a real name server. */
function beginsAt(name: string, soa: Answer | null, ns: Answer | null): boolean | null {
  const isHere = (answer: Answer | null) =>
    isAnswer(answer) &&
    answer.records.some((record) => record.type === answer.question.type && record.name === name);
  if (isHere(soa) || isHere(ns)) return true;
  if (!isAnswer(soa)) return null;
  return soa.records.some(({ type }) => type === 'CNAME') || soa.authority.some(({ type }) => type === 'SOA')
    ? false
    : null;
}

function nameServersIn(ns: Answer | null, zone: string): string[] {
  const records = ns?.records ?? [];
  return records
    .filter(({ type, name }) => type === 'NS' && name === zone)
    .map(({ value }) => value)
    .sort();
}
