import type { Asker } from './ask-server.js';
import { type Answer, DnsUnreachable, valuesOf } from './dns-message.js';
import type { NameServer, NameServers, Zone } from './name-servers.js';

const MAX_PARENT_SERVERS = 2;
const MAX_DELEGATED_ASKED = 4;

/**
 * The name servers of a zone according to its parent zone and according to the zone itself, sorted. Asks one question to
 * each of at most six servers. Null = unknown. D-64.
 */
export async function delegationOf(nameServers: NameServers, zone: Zone, asker: Asker) {
  const question = { name: zone.name, type: 'NS' } as const;
  const askAll = async (of: Zone, most: number) => {
    const servers = await nameServers.serversOf({ ...of, nameServers: of.nameServers.slice(0, most) }, asker);
    const ask = async (server: NameServer) => ({
      name: server.name,
      answer: await nameServers.ask(server, question, asker),
    });
    return Promise.all(servers.map(ask));
  };
  const parent = await zoneAbove(nameServers, zone.name, asker);
  if (!parent) return null;
  const above = await askAll(parent, MAX_PARENT_SERVERS);
  const referral = above.find(({ answer }) => delegatedBy(answer).length > 0)?.answer;
  if (!referral) return null;

  const delegated = delegatedBy(referral);
  const said = await askAll({ ...zone, nameServers: delegated }, MAX_DELEGATED_ASKED);
  const first = said.find(({ answer }) => answer.isAuthoritative && namesIn(answer, zone.name).length > 0);
  return {
    parent: parent.name,
    /** In the parent zone. Resolvers start with these. */
    delegated,
    /** In the zone itself. */
    own: first ? namesIn(first.answer, zone.name) : zone.nameServers,
    /** Servers that the parent zone names but that answer without authority for the zone. */
    lame: said.filter(({ answer }) => !answer.isAuthoritative && !(answer instanceof DnsUnreachable)),
    evidence: [referral, ...(first ? [first.answer] : [])],
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
