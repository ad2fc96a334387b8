import type { Asker } from './ask-server.js';
import { type Answer, DnsUnreachable, valuesOf } from './dns-message.js';
import type { NameServer, NameServers, Zone, ZoneCut } from './name-servers.js';

const MAX_PARENT_SERVERS = 2;
const MAX_DELEGATED_ASKED = 4;

/**
 * The name servers of a zone according to its parent zone and according to the zone itself, sorted. Asks one question to
 * each of at most six servers. Null = unknown. D-64.
 */
export async function delegationOf(nameServers: NameServers, zone: Zone, asker: Asker) {
  const parent = await zoneAbove(nameServers, zone.name, asker);
  const referral = parent && (await referralFrom(nameServers, parent, zone.name, asker));
  if (!parent || !referral) return null;

  const delegated = namesIn({ records: referral.authority }, zone.name);
  if (delegated.length === 0) return null;
  const said = await askAll(nameServers, { ...zone, nameServers: delegated }, zone.name, {
    most: MAX_DELEGATED_ASKED,
    asker,
  });
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

/**
 * The zone of `name` with its servers, as the name servers of the zone above `cut` refer to it. It is known even when none
 * of its servers answers rightly. No resolver has validated it. Null = unknown. D-64.
 */
export async function referredZone(
  nameServers: NameServers,
  { name, cut, registrable }: { name: string; cut: ZoneCut; registrable: string },
  asker: Asker,
): Promise<Zone | null> {
  const isAbove = cut.zone !== null && cut.zone.nameServers.length > 0;
  const above = isAbove ? cut.zone : await zoneAbove(nameServers, cut.zone?.name ?? registrable, asker);
  const referral = above && (await referralFrom(nameServers, above, name, asker));
  const owner = referral?.authority.find(({ type }) => type === 'NS')?.name;
  if (!above || !referral || owner === undefined) return null;
  if (!`.${name}`.endsWith(`.${owner}`) || !owner.endsWith(`.${above.name}`)) return null;
  return {
    name: owner,
    nameServers: namesIn({ records: referral.authority }, owner),
    glue: referral.glue,
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

/** Null = none. A server with both zones answers for the child zone, which says nothing about the parent. */
async function referralFrom(
  nameServers: NameServers,
  parent: Zone,
  name: string,
  asker: Asker,
): Promise<Answer | null> {
  const said = await askAll(nameServers, parent, name, { most: MAX_PARENT_SERVERS, asker });
  const isReferral = ({ isAuthoritative, authority }: Answer) =>
    !isAuthoritative && authority.some(({ type }) => type === 'NS');
  return said.find(({ answer }) => isReferral(answer))?.answer ?? null;
}

/** Asks servers of the zone for the name servers of `name`. */
async function askAll(
  nameServers: NameServers,
  zone: Zone,
  name: string,
  { most, asker }: { most: number; asker: Asker },
): Promise<{ name: string; answer: Answer }[]> {
  const some = { ...zone, nameServers: zone.nameServers.slice(0, most) };
  const servers = await nameServers.serversOf(some, asker);
  const ask = async (server: NameServer) => ({
    name: server.name,
    answer: await nameServers.ask(server, { name, type: 'NS' }, asker),
  });
  return Promise.all(servers.map(ask));
}

function namesIn(answer: Pick<Answer, 'records'>, zone: string): string[] {
  return valuesOf([answer], 'NS', zone).sort();
}
