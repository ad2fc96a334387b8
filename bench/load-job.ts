import { KeysetCursors } from '../src/ground/records/keyset-cursors.js';
import { nameOf } from './dataset.js';

/** Lists by id share their cursors. */
const PET = { singular: 'pet', plural: 'pets' };
const CURSORS = new KeysetCursors(PET, null);
let tokenTurn = 0;
const cursorsByName = new Map<string, KeysetCursors>();

/** The input of the load generator. */
export interface LoadJob {
  /** The contestant's addresses; the connections are divided among them. */
  origins: string[];
  request: RequestTemplate;
  connections: number;
  seconds: number;
  /** How many requests to send, for how long it takes; by default as many as `seconds` allow. */
  amount?: number;
  /** Null = each connection sends its next request as soon as it is answered. */
  requestsPerSecond: number | null;
}

/** A position in the list replaces `{after}` in path and body. */
export interface RequestTemplate {
  method: 'GET' | 'POST';
  path: string;
  body: string | null;
  headers: Record<string, string>;
  /** Null = the same request each time. */
  positions: Positions | null;
  /** Each request has another of these API keys, in turns. */
  tokens?: string[];
  /** A share of the requests, from 0 to 1, has these headers too. */
  sometimes?: { share: number; headers: Record<string, string> };
}

/** The range of ids to draw from at random; a repetition is possible, but rare. */
export interface Positions {
  fromId: number;
  toId: number;
  /** The gateway takes cursors, peers plain ids. */
  asCursor: boolean;
  /** Null = the list is ordered by id. */
  namePrefix: string | null;
}

/** The output of the load generator. */
export interface LoadResult {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  answered: number;
}

export interface PlainRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export function requestsOf(template: RequestTemplate, count: number): PlainRequest[] {
  const { positions, method, sometimes, tokens } = template;
  return Array.from({ length: count }, () => {
    const after = positions ? position(positions) : '';
    const path = template.path.replace('{after}', after);
    const more = sometimes && Math.random() < sometimes.share ? sometimes.headers : {};
    const authorization = tokens ? { authorization: `Bearer ${tokens[tokenTurn++ % tokens.length]}` } : {};
    const headers = { ...template.headers, ...authorization, ...more };
    const body = template.body?.replace('{after}', after);
    return { method, path, headers, ...(body === undefined ? {} : { body }) };
  });
}

function position({ fromId, toId, asCursor, namePrefix }: Positions): string {
  const id = Math.floor(fromId + Math.random() * (toId - fromId));
  if (!asCursor) return String(id);
  if (namePrefix === null) return CURSORS.encode({ id: String(id) });
  const cursors =
    cursorsByName.get(namePrefix) ?? new KeysetCursors(PET, ['OLDEST', null, namePrefix, null], namePrefix);
  cursorsByName.set(namePrefix, cursors);
  return cursors.encode({ id: String(id), text: nameOf(id) });
}

export function summary(latenciesMs: number[], elapsedSeconds: number): LoadResult {
  const sorted = Float64Array.from(latenciesMs).sort();
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return {
    requestsPerSecond: sorted.length / elapsedSeconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    answered: sorted.length,
  };
}
