import type { NounModel } from '../noun/definition/model.js';
import { graphql, rest } from './http-client.js';
import { restBody, type Values } from './inputs.js';
import type { TestedAction } from './tested-actions.js';
import type { TestedNoun } from './tested-noun.js';

/** The answer of a door, in terms that both doors share. */
export type Outcome<Value = unknown> =
  | { ok: true; value: Value }
  | { ok: false; code: string; status: number; fields: string[]; retryAfter: boolean };

/** `id` and the fields of answers; 64-bit integers are text of their digits, an absent field is null. */
export type SharedRecord = { id: string } & Record<string, unknown>;

export interface SharedPage {
  records: SharedRecord[];
  /** The cursor of the next page; null = this is the last one. */
  next: string | null;
}

export interface ListQuery {
  size?: number;
  /** Of the noun's filter. */
  choice?: string;
  cursor?: string;
  isNewestFirst?: boolean;
  /** By a field. */
  order?: NounModel['orders'][number];
  /** Of ranges, by argument, such as `dueAtFrom`. */
  bounds?: Values;
}

/** The requests of a client at either door. A token of null sends no key. */
export interface Door {
  create(token: string | null, input: Values, idempotencyKey?: string): Promise<Outcome<SharedRecord>>;
  get(token: string | null, id: string): Promise<Outcome<SharedRecord>>;
  list(token: string | null, query: ListQuery): Promise<Outcome<SharedPage>>;
  /** The key must have the scope to read, too. */
  act(
    token: string | null,
    action: TestedAction,
    request: { id: string; input: Values; idempotencyKey?: string },
  ): Promise<Outcome<SharedRecord>>;
}

export type Doors = Readonly<Record<'rest' | 'graphql', Door>>;

/** A noun without a way to read one record is read by its list in GraphQL. */
export function doorsOf(noun: TestedNoun, url: () => string): Doors {
  const graphql = graphqlDoor(noun, url);
  const rest = restDoor(noun, url);
  return { rest: noun.hasGet ? rest : { ...rest, get: graphql.get }, graphql };
}

/** The value of an outcome. Throws if the door refused the request. */
export function accepted<Value>(outcome: Outcome<Value>): Value {
  if (outcome.ok) return outcome.value;
  throw new Error(`refused: ${JSON.stringify(outcome)}`);
}

function restDoor(noun: TestedNoun, url: () => string): Door {
  const { path } = noun.names;
  const fields = noun.shownFields;
  const shared = (body: Record<string, unknown>): SharedRecord => {
    const values = fields.map(({ name, kind }) => {
      const value = body[name] ?? null;
      return [name, kind === 'int64' && value !== null ? String(value) : value];
    });
    return { ...Object.fromEntries(values), id: String(body.id) };
  };
  const outcome = <Value>(
    { status, body, headers }: Awaited<ReturnType<typeof rest>>,
    present: (body: never) => Value,
  ): Outcome<Value> => {
    if (status < 400) return { ok: true, value: present(body as never) };
    const wrong = (body.errors ?? []).map(({ field }: { field: string }) => field).sort();
    return { ok: false, code: body.code, status, fields: wrong, retryAfter: headers.has('retry-after') };
  };
  return {
    create: async (token, input, key) => {
      const headers = key === undefined ? {} : { 'idempotency-key': key };
      const init = { method: 'POST', token, body: restBody(noun, input), headers };
      return outcome(await rest(url(), path, init), shared);
    },
    get: async (token, id) => outcome(await rest(url(), `${path}/${id}`, { token }), shared),
    list: async (token, { size, choice, cursor, order, bounds = {} }) => {
      const query = new URLSearchParams();
      if (size !== undefined) query.set('limit', String(size));
      if (choice !== undefined && noun.filter) query.set(noun.filter.field, choice);
      if (cursor !== undefined) query.set('cursor', cursor);
      if (order) query.set('sort', order.parameter);
      for (const [name, value] of Object.entries(bounds)) query.set(name, String(value));
      const answer = await rest(url(), `${path}?${query}`, { token });
      const next = nextOf(answer.headers);
      return outcome(answer, (records: Record<string, unknown>[]) => ({
        records: records.map(shared),
        next: next === null ? null : new URLSearchParams(next).get('cursor'),
      }));
    },
    act: async (token, action, { id, input, idempotencyKey }) => {
      const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
      const body = action.inputType === null ? {} : { body: restBody(action, input) };
      const init = { method: 'POST', token, headers, ...body };
      return outcome(await rest(url(), `${path}/${id}/${action.name}`, init), shared);
    },
  };
}

/** The query of the next page, such as `?limit=2&cursor=abc`, from the header Link; null on the last page. */
export function nextOf(headers: Headers): string | null {
  const [, url] = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '') ?? [];
  return url === undefined ? null : new URL(url).search;
}

/** The names of page size and cursor differ between the doors; problems have those of REST here. */
const FIELD_OF_GRAPHQL: Record<string, string> = { first: 'limit', after: 'cursor', orderBy: 'sort' };

interface Connection {
  nodes: SharedRecord[];
  pageInfo: { hasNextPage: boolean; endCursor: string };
}

function graphqlDoor({ names, filter, hasGet }: TestedNoun, url: () => string): Door {
  const { one, list, create, newInput, order, fields } = names;
  const outcome = <Value>(
    { body }: Awaited<ReturnType<typeof graphql>>,
    present: (data: { it: never }) => Value,
  ): Outcome<Value> => {
    const [error] = body.errors ?? [];
    if (!error) return { ok: true, value: present(body.data) };
    const { code, status, errors = [], retryAfterSeconds } = error.extensions;
    const wrong = errors.map(
      (problem: { field: string }) => FIELD_OF_GRAPHQL[problem.field] ?? problem.field,
    );
    const retryAfter = retryAfterSeconds !== undefined;
    return { ok: false, code: code.toLowerCase(), status, fields: wrong.sort(), retryAfter };
  };
  return {
    create: async (token, input, key) => {
      const headers = key === undefined ? {} : { 'idempotency-key': key };
      const query = `mutation($input: ${newInput}!) { it: ${create}(input: $input) { ${fields} } }`;
      const answer = await graphql(url(), query, { token, variables: { input }, headers });
      return outcome<SharedRecord>(answer, ({ it }) => it);
    },
    get: async (token, id) => {
      const found = hasGet ? `${one}(id: $id) { ${fields} }` : `${list}(ids: [$id]) { nodes { ${fields} } }`;
      const query = `query($id: ID!) { it: ${found} }`;
      const answer = await graphql(url(), query, { token, variables: { id } });
      if (hasGet || answer.body.errors) return outcome<SharedRecord>(answer, ({ it }) => it);
      const [record] = answer.body.data.it.nodes;
      if (record) return { ok: true, value: record };
      return { ok: false, code: 'not_found', status: 404, fields: [], retryAfter: false };
    },
    list: async (token, { size, choice, cursor, isNewestFirst = false, order: sort, bounds = {} }) => {
      const [declared, given] = filter
        ? [`, $choice: ${filter.type}`, `, ${filter.field}: $choice`]
        : ['', ''];
      const range = Object.entries(bounds).map(([name, value]) => `, ${name}: ${JSON.stringify(value)}`);
      const query = `query($first: Int, $after: String, $orderBy: ${order}${declared}) {
        it: ${list}(first: $first, after: $after, orderBy: $orderBy${given}${range.join('')}) {
          nodes { ${fields} } pageInfo { hasNextPage endCursor } } }`;
      const orderBy = sort?.name ?? (isNewestFirst ? 'NEWEST' : 'OLDEST');
      const variables = { first: size, after: cursor, choice, orderBy };
      const answer = await graphql(url(), query, { token, variables });
      return outcome(
        answer,
        ({ it: { nodes, pageInfo } }: { it: Connection }): SharedPage => ({
          records: nodes,
          next: pageInfo.hasNextPage ? pageInfo.endCursor : null,
        }),
      );
    },
    act: async (token, { operation, inputType }, { id, input, idempotencyKey }) => {
      const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
      const [declared, given] = inputType === null ? ['', ''] : [`, $input: ${inputType}`, ', input: $input'];
      const query = `mutation($id: ID!${declared}) { it: ${operation}(id: $id${given}) { ${fields} } }`;
      const answer = await graphql(url(), query, { token, variables: { id, input }, headers });
      return outcome<SharedRecord>(answer, ({ it }) => it);
    },
  };
}
