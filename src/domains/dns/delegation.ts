import type { Asker } from './ask-server.js';
import { type Answer, DnsUnreachable, valuesOf } from './dns-message.js';
import type { NameServers, Zone } from './name-servers.js';

const MAX_PARENT_SERVERS = 2;
const MAX_DELEGATED_ASKED = 4;

/** A zone's name servers according to its parent zone and according to the zone itself. */
export interface Delegation {
  /** Name of the parent zone. */
  parent: string;
  /** Name servers in the parent zone, sorted. Resolvers start with these. */
  delegated: string[];
  /** Name servers in the zone itself, sorted. */
  own: string[];
  /** Servers that the parent zone names but that answer without authority for the zone. */
  lame: { name: string; answer: Answer }[];
  evidence: Answer[];
}

/**
 * Asks parent and zone for the NS records of `zone`: one question to each of at most six servers. Null = unknown. Never
 * throws. D-64.
 */
export async function delegationOf(
  nameServers: NameServers,
  zone: Zone,
  asker: Asker,
): Promise<Delegation | null> {
  const question = { name: zone.name, type: 'NS' } as const;
  const askAll = async (names: Zone) =>
    Promise.all(
      (await nameServers.serversOf(names, asker)).map(async (server) => ({
        name: server.name,
        answer: await nameServers.ask(server, question, asker),
      })),
    );
  const parent = await zoneAbove(nameServers, zone.name, asker);
  if (!parent) return null;
  const above = await askAll(firstOf(parent, MAX_PARENT_SERVERS));
  const referral = above.map(({ answer }) => answer).find((answer) => delegatedBy(answer).length > 0);
  if (!referral) return null;

  const delegated = delegatedBy(referral);
  const said = await askAll(firstOf({ ...zone, nameServers: delegated }, MAX_DELEGATED_ASKED));
  const own = said
    .map(({ answer }) => answer)
    .find((answer) => answer.isAuthoritative && namesIn(answer, zone.name).length > 0);
  return {
    parent: parent.name,
    delegated,
    own: own ? namesIn(own, zone.name) : zone.nameServers,
    lame: said.filter(({ answer }) => !answer.isAuthoritative && !(answer instanceof DnsUnreachable)),
    evidence: [referral, ...(own ? [own] : [])],
  };
}

/** The parent zone. When the direct parent name is not a zone (`city.kawasaki.jp`), the next zone up. */
async function zoneAbove(nameServers: NameServers, name: string, asker: Asker): Promise<Zone | null> {
  const parent = name.slice(name.indexOf('.') + 1);
  if (parent === name) return null;
  const { zone } = await nameServers.cutOf(parent, asker);
  if (!zone || zone.nameServers.length > 0) return zone;
  return (await nameServers.cutOf(zone.name, asker)).zone;
}

/** The NS names of a referral. A server with both zones answers for the child zone, which says nothing about the parent. */
function delegatedBy({ isAuthoritative, authority, question }: Answer): string[] {
  return isAuthoritative ? [] : namesIn({ records: authority }, question.name);
}

function namesIn(answer: Pick<Answer, 'records'>, zone: string): string[] {
  return valuesOf([answer], 'NS', zone).sort();
}

function firstOf(zone: Zone, count: number): Zone {
  return { ...zone, nameServers: zone.nameServers.slice(0, count) };
}
