import { isDeepStrictEqual } from 'node:util';
import type { Answer, Contestant } from './contestant.js';
import { idOf, SOLD_EVERY, type Tenant } from './dataset.js';
import { type Positions, type RequestTemplate, requestsOf } from './load-job.js';

export type Door = 'rest' | 'graphql';

/** Contestants answer ids as numbers or as text. */
interface PetAnswer {
  id: number | string;
  name: string;
  categoryId: number | string;
  status?: string | null;
}

interface GraphQLAnswer {
  data: { pets: { nodes: PetAnswer[] } };
}

/** The pages to read: always the first, or random pages after a pet between the two given positions. */
export type Pages = 'first' | { fromNth: number; toNth: number };

/** The pets to list; REST cannot list by name. */
export type Filter = { status?: 'available' | 'sold'; nameStartsWith?: string };

/** All positions of the list that have a full page after them. */
export const everywhere = ({ pets }: Tenant, { status }: Filter = {}): Pages => ({
  fromNth: 1,
  toNth: pets - 21 * (status === 'sold' ? SOLD_EVERY : 3),
});

const queryOf = (declared: string, given: string) => `query ($after: String${declared}) {
  pets(first: 20, after: $after${given}) { nodes { id name categoryId status } pageInfo { hasNextPage endCursor } }
}`;
const QUERY = queryOf('', '');
const QUERIES = {
  status: queryOf(', $status: PetStatus', ', status: $status'),
  nameStartsWith: queryOf(', $nameStartsWith: String', ', nameStartsWith: $nameStartsWith'),
};

export function listRequest(
  { token }: Contestant,
  door: Door,
  pages: Pages,
  filter: Filter = {},
): RequestTemplate {
  const positions: Positions | null =
    pages === 'first'
      ? null
      : {
          fromId: idOf(pages.fromNth),
          toId: idOf(pages.toNth),
          asCursor: token !== null,
          namePrefix: filter.nameStartsWith ?? null,
        };
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  if (door === 'rest') {
    const status = filter.status ? `&status=${filter.status}` : '';
    const path = `/v1/pets?limit=20${status}${positions ? '&cursor={after}' : ''}`;
    return { method: 'GET', path, body: null, headers, positions };
  }
  const query = filter.status ? QUERIES.status : filter.nameStartsWith ? QUERIES.nameStartsWith : QUERY;
  const body = JSON.stringify({ query, variables: { after: positions ? '{after}' : null, ...filter } });
  const json = { 'content-type': 'application/json', ...headers };
  return { method: 'POST', path: '/graphql', body, headers: json, positions };
}

const MUTATION = 'mutation ($pet: NewPet!) { createPet(input: $pet) { id name categoryId status } }';

export function createRequest({ token }: Contestant, door: Door = 'rest'): RequestTemplate {
  const pet = { name: 'Rex', categoryId: 3, status: 'available' };
  const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
  const headers = { 'content-type': 'application/json', ...authorization };
  const [path, body] =
    door === 'rest' ? ['/v1/pets', pet] : ['/graphql', { query: MUTATION, variables: { pet } }];
  return { method: 'POST', path, body: JSON.stringify(body), headers, positions: null };
}

/** Rejects unless all contestants list the same 20 pets, on the first page and on the page after the 7th pet. */
export async function checkLists(
  contestants: readonly Contestant[],
  door: Door,
  filter: Filter = {},
): Promise<void> {
  for (const pages of ['first', { fromNth: 7, toNth: 7 }] as const) {
    const answers = await Promise.all(
      contestants.map(async (contestant) => {
        const body = await ask(contestant, listRequest(contestant, door, pages, filter), 200);
        const nodes = door === 'rest' ? (body as PetAnswer[]) : (body as GraphQLAnswer).data.pets.nodes;
        if (nodes.length !== 20) throw new Error(`${contestant.name} listed ${nodes.length} pets, not 20`);
        return nodes.map(({ id, name, categoryId, status }) =>
          [id, name, categoryId, status ?? ''].map(String),
        );
      }),
    );
    for (const [index, { name }] of contestants.entries()) {
      if (!isDeepStrictEqual(answers[index], answers[0]))
        throw new Error(`${name} lists other pets than the first`);
    }
  }
}

/** Rejects unless every contestant creates the pet. */
export async function checkCreates(contestants: readonly Contestant[], door: Door = 'rest'): Promise<void> {
  for (const contestant of contestants) {
    const body = await ask(contestant, createRequest(contestant, door), door === 'rest' ? 201 : 200);
    const pet =
      door === 'rest' ? (body as PetAnswer) : (body as { data: { createPet: PetAnswer } }).data.createPet;
    if (pet.name !== 'Rex' || Number(pet.categoryId) !== 3 || pet.status !== 'available' || !pet.id) {
      throw new Error(`${contestant.name} answered ${JSON.stringify(pet)} to the creation of a pet`);
    }
  }
}

/** Asks the gateway once. The server adds date and connection to each answer itself. */
export async function answerTo(origin: string, template: RequestTemplate): Promise<Answer> {
  const [request] = requestsOf(template, 1);
  const response = await fetch(`${origin}${request?.path}`, { ...request });
  const headers = Object.fromEntries(response.headers);
  for (const own of ['date', 'connection', 'keep-alive']) delete headers[own];
  return { status: response.status, headers, body: await response.text() };
}

async function ask(
  { name, origin }: Contestant,
  template: RequestTemplate,
  status: number,
): Promise<unknown> {
  const [request] = requestsOf(template, 1);
  const response = await fetch(`${origin}${request?.path}`, { ...request });
  const text = await response.text();
  if (response.status !== status) throw new Error(`${name} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}
