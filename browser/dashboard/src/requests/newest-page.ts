import type { RequestLogQuery, RequestPartsFragment } from '../graphql/generated.js';

export type RequestPage = RequestLogQuery['project']['requests'];

/** The newest page, joined with the older requests that are known. */
export function joined(known: RequestPage, newest: RequestPage): RequestPage {
  const last = newest.nodes.at(-1);
  if (!last || !newest.pageInfo.hasNextPage) return newest;
  const older = known.nodes.filter(({ id }) => BigInt(id) < BigInt(last.id));
  // Between both, there are requests that nobody has read.
  const isApart = older.length === known.nodes.length;
  if (older.length === 0 || isApart) return newest;
  return { ...newest, nodes: [...newest.nodes, ...older], pageInfo: known.pageInfo };
}

/** Adds the page that follows the known requests. */
export function extended(known: RequestPage, next: RequestPage): RequestPage {
  return { ...next, nodes: [...known.nodes, ...next.nodes] };
}

export function newerThan(known: RequestPage, newest: RequestPage): readonly RequestPartsFragment[] {
  const first = known.nodes[0];
  return first ? newest.nodes.filter(({ id }) => BigInt(id) > BigInt(first.id)) : newest.nodes;
}
