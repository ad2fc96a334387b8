import type { Config, DnsServer } from '../../ground/config/config.js';
import { type Asker, askServer } from './ask-server.js';
import {
  type Answer,
  DnsUnreachable,
  isDecisive,
  type Question,
  type RecordType,
  type ResourceRecord,
  valuesOf,
} from './dns-message.js';
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
  /** Their addresses according to a referral: a resolver does not know them while the zone fails. */
  glue?: readonly ResourceRecord[];
}

export interface ZoneCut {
  /** Null = not found, or DNS could not be asked. */
  zone: Zone | null;
  /** Whether the name is the apex of a zone; null = unknown. */
  isApex: boolean | null;
  /** The resolver could not say whether a zone begins between this zone and the name. */
  isUnsure: boolean;
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
        const ask = (type: RecordType) => this.resolver.ask({ name: cut, type }, { asker });
        const [soa, ns] = await Promise.all([ask('SOA'), ask('NS')]);
        return { soa, ns, isApex: isApex(soa, ns) };
      }),
    );
    const found = cuts.map(zoneNameOf).find((zone) => zone !== null);
    const below = cuts.filter(({ soa }) => soa.question.name.length > (found?.length ?? 0));
    const ns = cuts.flatMap((cut) => (cut.ns.question.name === found ? cut.ns : []));
    return {
      zone: found === undefined ? null : { name: found, nameServers: valuesOf(ns, 'NS', found).sort() },
      isApex: cuts[0]?.isApex ?? null,
      isUnsure: below.some(({ soa }) => !isDecisive(soa)),
    };
  }

  /**
   * The zone's name servers that may be asked, at most 8, with one address each. Servers with private addresses are left
   * out: a zone's owner could otherwise direct packets into our network. Never throws.
   */
  async serversOf({ name: zone, nameServers, glue = [] }: Zone, asker?: Asker): Promise<NameServer[]> {
    const found = await Promise.all(
      nameServers.slice(0, MAX_NAME_SERVERS).map(async (name) => {
        const types = ['A', 'AAAA'] as const;
        const glued = { records: glue.filter((record) => record.name === name) };
        const ask = (type: RecordType) => this.resolver.ask({ name, type }, { asker });
        const answers = glued.records.length > 0 ? [glued] : await Promise.all(types.map(ask));
        const address = types
          .flatMap((type) => valuesOf(answers, type))
          .find((ip) => this.settings.privateNameServers || !isPrivateAddress(ip));
        return address ? [{ name, zone, server: { address, port: this.settings.nameServerPort } }] : [];
      }),
    );
    // Several names with one address would multiply the questions to that server.
    const byAddress = new Map(found.flat().map((entry) => [entry.server.address, entry]));
    return [...byAddress.values()];
  }

  /** A name server's own answer, or `DnsUnreachable`, after at most 500 ms. */
  async ask({ server, zone }: NameServer, question: Question, asker: Asker): Promise<Answer> {
    const { toAddress, toZone } = MAX_QUESTIONS_A_SECOND;
    if (this.questions.add(`zone ${zone}`) > toZone || this.questions.add(server.address) > toAddress) {
      return new DnsUnreachable(server, question, 'not asked', this.now());
    }
    return askServer(server, question, {
      recursionDesired: false,
      timeoutMs: QUESTION_MS,
      asker,
      now: this.now,
    });
  }
}

/** The name and its parents, without the top-level domain unless that is the name. */
function namesUpward(name: string): string[] {
  const labels = name.split('.');
  const most = Math.min(MAX_CUTS, Math.max(1, labels.length - 1));
  return labels.slice(0, most).map((_, index) => labels.slice(index).join('.'));
}

/** The zone named by the answers for a name. A CNAME is ignored: its answer names the zone of the target. */
function zoneNameOf({ soa, isApex }: { soa: Answer; isApex: boolean | null }): string | null {
  const { name } = soa.question;
  if (isApex) return name;
  if (!isDecisive(soa) || soa.records.length > 0) return null;
  const owner = soa.authority.find(({ type }) => type === 'SOA')?.name;
  return owner && name.endsWith(`.${owner}`) ? owner : null;
}

/** Null = unknown: a negative answer without an SOA does not come from a real name server. */
function isApex(soa: Answer, ns: Answer): boolean | null {
  const { name } = soa.question;
  const decisive = [soa, ns].filter(isDecisive);
  if (decisive.some((answer) => valuesOf([answer], answer.question.type, name).length > 0)) return true;
  const isBelow = valuesOf([soa], 'CNAME').length > 0 || soa.authority.some(({ type }) => type === 'SOA');
  return isDecisive(soa) && isBelow ? false : null;
}
