import type { Asker } from './ask-server.js';
import { type Answer, DnsUnreachable } from './dns-message.js';
import type { NameServer, NameServers, Zone } from './name-servers.js';

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
  const ask = async (server: NameServer) => ({
    name: server.name,
    answer: await nameServers.ask(server, question, asker).catch(silence),
  });
  const parent = await zoneAbove(nameServers, zone.name, asker);
  if (!parent) return null;
  const above = await nameServers.serversOf(firstOf(parent, MAX_PARENT_SERVERS), asker);
  const referral = (await Promise.all(above.map(ask))).find(({ answer }) => delegatedBy(answer).length > 0);
  if (!referral?.answer) return null;

  const delegated = delegatedBy(referral.answer);
  const wanted = firstOf({ ...zone, nameServers: delegated }, MAX_DELEGATED_ASKED);
  const said = await Promise.all((await nameServers.serversOf(wanted, asker)).map(ask));
  const lame = said.flatMap(({ name, answer }) =>
    answer && !answer.isAuthoritative ? [{ name, answer }] : [],
  );
  const own = said.find(
    ({ answer }) => answer?.isAuthoritative && namesIn(answer.records, zone.name).length > 0,
  );
  return {
    parent: parent.name,
    delegated,
    own: own?.answer ? namesIn(own.answer.records, zone.name) : zone.nameServers,
    lame,
    evidence: [referral.answer, ...(own?.answer ? [own.answer] : [])],
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
function delegatedBy(answer: Answer | null): string[] {
  return answer && !answer.isAuthoritative ? namesIn(answer.authority, answer.question.name) : [];
}

function namesIn(records: Answer['records'], zone: string): string[] {
  const found = records.filter(({ type, name }) => type === 'NS' && name === zone);
  return found.map(({ value }) => value).sort();
}

function firstOf(zone: Zone, count: number): Zone {
  return { ...zone, nameServers: zone.nameServers.slice(0, count) };
}

function silence(error: unknown): null {
  if (error instanceof DnsUnreachable) return null;
  throw error;
}
