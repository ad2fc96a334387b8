import { rest } from '../http/client.js';

export interface LoadKey {
  id: bigint;
  token: string;
}

/** A request as its client saw it. */
export interface SeenRequest {
  key: string;
  door: 'graphql' | 'rest';
  operation: string;
  status: string;
  outcome: 'ok' | 'failed' | 'refused';
}

interface Operation {
  name: string;
  send(url: string, token: string): ReturnType<typeof rest>;
}

const REFUSED = /^(?:field_rate_limited|rate_limited|key_banned)/i;
const AT_ONCE = 16;
const MAX_NAME = 100;

const REST: readonly Operation[] = [
  restOperation('listToys', '/v1/toys?limit=1'),
  restOperation('listToys', '/v1/toys?limit=0'),
  restOperation('getToy', '/v1/toys/1'),
  restOperation('createToy', '/v1/toys', { name: 'Rex', categoryId: 1 }),
  restOperation('other', '/v1/nowhere'),
];

const UNNAMED: readonly Operation[] = [
  graphqlOperation('toys', '{ toys(first: 1) { nodes { id } } }'),
  graphqlOperation('project,toys', '{ project { slug } toys(first: 1) { nodes { id } } }'),
  graphqlOperation('other', '{ nothing }'),
];

const NAMED: readonly ((name: string) => string)[] = [
  (name) => `query ${name} { toys(first: 2) { nodes { name } } }`,
  (name) => `query ${name} { toy(id: "1") { id } }`,
  (name) => `mutation ${name} { createToy(input: { name: "Rex", categoryId: "1" }) { id } }`,
  (name) => `query ${name} { project { slug } }`,
  (name) => `query ${name} { nothing }`,
  (name) => `query ${name} { toys(first: 3, status: sold) { nodes { id } } }`,
];

/**
 * Sends requests to both doors of several processes, by all keys and with all operations in turn, and records what the
 * clients see. Some of the requests fail, and some are refused.
 */
export async function sendUsageLoad(
  urls: readonly string[],
  { keys, operations: wanted, requests }: { keys: readonly LoadKey[]; operations: number; requests: number },
): Promise<Map<string, SeenRequest>> {
  const named = wanted - UNNAMED.length - new Set(REST.map(({ name }) => name)).size + 1;
  const inGraphql = [...UNNAMED, ...Array.from({ length: named }, (_, at) => namedOperation(at))];
  const seen = new Map<string, SeenRequest>();
  let sent = 0;
  const client = async () => {
    while (sent < requests) {
      const at = sent;
      sent += 1;
      const turn = Math.floor(at / 2);
      const door = at % 2 === 0 ? 'rest' : 'graphql';
      const operation = inTurn(door === 'rest' ? REST : inGraphql, turn);
      const key = inTurn(keys, turn + Math.floor(turn / keys.length));
      const { status, headers, body } = await operation.send(inTurn(urls, turn), key.token);
      const codes: string[] = body.errors?.map((error: Problem) => error.extensions?.code) ?? [body.code];
      const hasFailed = status >= 400 || (door === 'graphql' && body.errors !== undefined);
      seen.set(String(headers.get('x-request-id')), {
        key: String(key.id),
        door,
        operation: operation.name,
        status: String(status),
        outcome: codes.some((code) => REFUSED.test(code)) ? 'refused' : hasFailed ? 'failed' : 'ok',
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  return seen;
}

interface Problem {
  extensions?: { code: string };
}

function restOperation(name: string, path: string, body?: object): Operation {
  const method = body ? 'POST' : 'GET';
  return { name, send: (url, token) => rest(url, path, { token, method, body }) };
}

/** `operationName` names a document that is refused unread. */
function graphqlOperation(name: string, query: string, operationName?: string): Operation {
  const body = { query, operationName };
  return { name, send: (url, token) => rest(url, '/graphql', { token, method: 'POST', body }) };
}

function namedOperation(at: number): Operation {
  // Every tenth name is longer than what is kept of it.
  const name = `Operation${at}_${at % 10 === 0 ? 'n'.repeat(MAX_NAME) : ''}`;
  return graphqlOperation(name.slice(0, MAX_NAME), inTurn(NAMED, at)(name), name);
}

function inTurn<T>(all: readonly T[], turn: number): T {
  return all[turn % all.length] as T;
}
