import type { Config, DnsServer } from '../../ground/config/config.js';
import { type Asker, askServer } from './ask-server.js';
import { type Answer, DnsUnreachable, type Question, type RecordType } from './dns-message.js';
import { isPrivateAddress } from './private-addresses.js';
import type { Resolver } from './resolver.js';
import { Tally } from './tally.js';

const MAX_NAME_SERVERS = 8;
/** How many names are tried as the zone: the name itself, then its parents. */
const MAX_CUTS = 6;
const QUESTION_MS = 500;
/** Zone owners choose the addresses: zones that name a foreign machine must not make us flood it. */
const MAX_QUESTIONS_A_SECOND = { toAddress: 40, toZone: 100 };

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
  zone: string;
  server: DnsServer;
}

/** Finds the name servers of a zone, and asks each of them directly, without caches. */
export class NameServers {
  private readonly questions = new Tally<string>(1_000);

  constructor(
    private readonly resolver: Resolver,
    private readonly settings: Pick<Config, 'nameServerPort' | 'privateNameServers'>,
    private readonly now: () => number,
  ) {}

  /** The zone that contains `name`. Never throws. */
  async cutOf(name: string, asker?: Asker): Promise<ZoneCut> {
    const cuts = await Promise.all(
      namesUpward(name).map(async (cut) => {
        const [soa, ns] = await Promise.all([
          this.askResolver(cut, 'SOA', asker),
          this.askResolver(cut, 'NS', asker),
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
  async serversOf(zone: Zone, asker?: Asker): Promise<NameServer[]> {
    const found = await Promise.all(
      zone.nameServers.slice(0, MAX_NAME_SERVERS).map(async (name) => {
        const answers = await Promise.all([
          this.askResolver(name, 'A', asker),
          this.askResolver(name, 'AAAA', asker),
        ]);
        const addresses = answers.flatMap((answer) =>
          (answer?.records ?? [])
            .filter(({ type }) => type === answer?.question.type)
            .map(({ value }) => value),
        );
        const address = addresses.find((ip) => this.settings.privateNameServers || !isPrivateAddress(ip));
        const server = { address: address ?? '', port: this.settings.nameServerPort };
        return address ? [{ name, zone: zone.name, server }] : [];
      }),
    );
    // Several names with one address would multiply the questions to that server.
    const byAddress = new Map(found.flat().map((entry) => [entry.server.address, entry]));
    return [...byAddress.values()];
  }

  /** A name server's own answer. Throws `DnsUnreachable` after at most 500 ms. */
  async ask({ server, zone }: NameServer, question: Question, asker: Asker): Promise<Answer> {
    const { toAddress, toZone } = MAX_QUESTIONS_A_SECOND;
    if (this.questions.add(`zone ${zone}`) > toZone || this.questions.add(server.address) > toAddress) {
      throw new DnsUnreachable(server, question, 'not asked', this.now());
    }
    return askServer(server, question, {
      recursionDesired: false,
      timeoutMs: QUESTION_MS,
      asker,
      now: this.now,
    });
  }

  /** Null = DNS could not be asked. */
  private async askResolver(name: string, type: RecordType, asker?: Asker): Promise<Answer | null> {
    try {
      return await this.resolver.ask({ name, type }, { asker });
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
