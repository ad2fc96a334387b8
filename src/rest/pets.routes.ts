import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../admission/admission.hook.js';
import { AppError } from '../errors.js';
import { restrictMethods } from '../http/methods.js';
import { parseInt64 } from '../int64.js';
import { GET_PET_DEPRECATION } from '../pets/get-pet-deprecation.js';
import type { Pet } from '../pets/pet.entity.js';
import { parseNewPet } from '../pets/pet.rules.js';
import type { PetService } from '../pets/pet.service.js';
import type { ListedPet, PetListRequest } from '../pets/pet.store.js';
import { encodeCursor } from '../pets/pet-cursor.js';
import { parseListQuery } from './list-query.js';
import { petSchema, petsSchema } from './schemas.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Sets headers that belong on every answer of the route, refusals by admission included. */
    announce?: (reply: FastifyReply) => void;
  }
}

/** SPEC's listPets, createPet and getPet. `baseUrl` is the address of `/v1` as the client of a request sees it. */
export function petsRoutes(
  app: FastifyInstance,
  pets: PetService,
  baseUrl: (request: FastifyRequest) => string,
): void {
  const listUrl = (request: FastifyRequest) => `${baseUrl(request)}/pets`;

  app.get<{ Querystring: Record<string, unknown> }>(
    '/pets',
    { schema: { response: { 200: petsSchema } }, config: { isKept: true } },
    async (request, reply) => {
      const wanted = parseListQuery(request.query);
      const page = await pets.list(callerOf(request), wanted);
      const last = page.pets.at(-1);
      const url = listUrl(request);
      const links = [link(url, wanted, null, 'first')];
      if (page.hasNextPage && last) links.push(link(url, wanted, encodeCursor(last.id), 'next'));
      reply.header('link', links.join(', '));
      return page.pets.map(present);
    },
  );

  app.post('/pets', { schema: { response: { 201: petSchema } } }, async (request, reply) => {
    const key = request.headers['idempotency-key'];
    const pet = await pets.create(callerOf(request), parseNewPet(request.body), key?.toString() ?? null);
    return reply
      .code(201)
      .header('location', `${listUrl(request)}/${pet.id}`)
      .send(present(pet));
  });

  const deprecated = { announce: (reply: FastifyReply) => announceSunset(reply, listUrl(reply.request)) };
  app.get<{ Params: { petId: string } }>(
    '/pets/:petId',
    {
      schema: { response: { 200: petSchema } },
      config: deprecated,
    },
    async (request) => {
      const id = parseInt64(request.params.petId);
      if (id === null) throw new AppError('not_found', 'There is no such pet: its id is an integer.');
      return present(await pets.get(callerOf(request), id));
    },
  );

  restrictMethods(app, '/pets', ['GET', 'POST']);
  restrictMethods(app, '/pets/:petId', ['GET'], deprecated);
}

/** SPEC's Pet. A status that was never stated is left out: SPEC's status is optional, not nullable. */
function present({ id, name, categoryId, status }: Pet | ListedPet) {
  return { id: BigInt(id), name, categoryId: BigInt(categoryId), status: status ?? undefined };
}

/** RFC 8288. The filters of the request are kept, its unknown parameters are not. */
function link(url: string, { pageSize, status }: PetListRequest, cursor: string | null, rel: string): string {
  // None of the values needs escaping.
  const filter = status === null ? '' : `&status=${status}`;
  const position = cursor === null ? '' : `&cursor=${cursor}`;
  return `<${url}?limit=${pageSize}${filter}${position}>; rel="${rel}"`;
}

/** RFC 9745 §2, RFC 8594 §3. */
function announceSunset(reply: FastifyReply, successorUrl: string): void {
  const { deprecatedAtMs, sunsetAtMs } = GET_PET_DEPRECATION;
  reply.header('deprecation', `@${deprecatedAtMs / 1000}`);
  reply.header('sunset', new Date(sunsetAtMs).toUTCString());
  reply.header('link', `<${successorUrl}>; rel="successor-version"`);
}
