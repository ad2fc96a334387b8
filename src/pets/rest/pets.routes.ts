import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { linkPages, nameIgnored, wholeNumber } from '../../doors/rest/rest.hooks.js';
import { invalidRequest } from '../../ground/kernel/errors.js';
import { got } from '../../ground/kernel/got.js';
import { parseRecordId } from '../../ground/kernel/int64.js';
import { MAX_PAGE_SIZE, PAGE_SIZE, validator } from '../../ground/kernel/validation.js';
import type { ChangesRequest } from '../../ground/records/noun-changes.js';
import { serviceCallOf } from '../../request/admission/admission.js';
import { CHANGES_CURSOR, canonicalLinks } from '../../request/http/headers.js';
import { restrictMethods } from '../../request/http/unrouted.js';
import { PET } from '../pet.description.js';
import type { Pet, PetStatus } from '../pet.entity.js';
import { GET_PET_DEPRECATION, hasStatus, PET_RULES } from '../pet.rules.js';
import type { PetService } from '../pet.service.js';
import { type ListedPet, oldestFirst, PetCursors, type PetListRequest } from '../pet-list.js';
import {
  changesQuerySchema,
  listQuerySchema,
  petChangesSchema,
  petSchema,
  petsSchema,
} from './pets.schemas.js';

const problemsOf = validator(listQuerySchema);

/** SPEC's listPets, createPet and getPet. `baseUrl` returns the address of `/v1` as the client sees it. */
export function petsRoutes(
  app: FastifyInstance,
  pets: PetService,
  baseUrl: (request: FastifyRequest) => string,
): void {
  const listUrl = (request: FastifyRequest) => `${baseUrl(request)}/pets`;

  app.get<{ Querystring: Record<string, unknown> }>(
    '/pets',
    { schema: { response: { 200: petsSchema } }, config: { operationId: 'listPets', dataOf: PET.plural } },
    async (request, reply) => {
      const wanted = parseListQuery(request.query);
      const page = await pets.list(serviceCallOf(request, reply), wanted);
      const last = page.hasNextPage ? page.pets.at(-1) : undefined;
      linkPages(request, reply, {
        url: listUrl(request),
        query: `limit=${wanted.pageSize}${wanted.status === null ? '' : `&status=${wanted.status}`}`,
        nextCursor: last ? new PetCursors(wanted).encode({ id: last.id }) : null,
      });
      nameIgnored(reply, Object.keys(listQuerySchema.properties));
      if (page.changesCursor !== null) reply.header(CHANGES_CURSOR, page.changesCursor);
      return page.pets.map(present);
    },
  );

  app.get<{ Querystring: Record<string, unknown> }>(
    '/pets/changes',
    { schema: { response: { 200: petChangesSchema } }, config: { operationId: 'listPetChanges' } },
    async (request, reply) => {
      const { status } = request.query;
      const wanted = parseChangesQuery(request.query);
      const page = await pets.changes(serviceCallOf(request, reply), wanted);
      linkPages(request, reply, {
        url: `${listUrl(request)}/changes`,
        query: `limit=${wanted.pageSize}${status === undefined ? '' : `&status=${status}`}`,
        // Always: the next changes will be there.
        nextCursor: page.endCursor,
      });
      nameIgnored(reply, Object.keys(changesQuerySchema.properties));
      return page.changes.map(({ cursor, kind, atMs, record }) => {
        return { cursor, kind, at: new Date(atMs).toISOString(), pet: present(record) };
      });
    },
  );

  const creating = { schema: { response: { 201: petSchema } }, config: { operationId: 'createPet' } };
  app.post('/pets', creating, async (request, reply) => {
    const wanted = PET_RULES.parse(request.body);
    // Nothing else of the body stays in memory while the statement waits.
    request.body = undefined;
    request.bodyShare?.set(0);
    const pet = await pets.create(serviceCallOf(request, reply), wanted);
    nameIgnored(reply);
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
      config: { operationId: 'getPet', ...deprecated },
    },
    async (request, reply) => {
      const id = parseRecordId(request.params.petId, PET.singular);
      const pet = await pets.get(serviceCallOf(request, reply), id);
      nameIgnored(reply);
      return present(pet);
    },
  );

  restrictMethods(app, '/pets', ['GET', 'POST']);
  restrictMethods(app, '/pets/changes', ['GET']);
  restrictMethods(app, '/pets/:petId', ['GET'], deprecated);
}

/**
 * The parameters of listPets; unknown ones are ignored. Throws `AppError invalid_request` for a value that is repeated,
 * out of range or otherwise invalid. Spec: listPets.
 */
function parseListQuery(query: Record<string, unknown>): PetListRequest {
  const { limit, status, cursor } = query;
  const problems = problemsOf({ limit: wholeNumber(limit), status });
  const list = oldestFirst((status as PetStatus | undefined) ?? null);
  const after = cursor === undefined ? undefined : new PetCursors(list).decode(String(cursor));
  if (after === null)
    problems.push({ field: 'cursor', message: got(listQuerySchema.properties.cursor.rule, cursor) });
  if (problems.length > 0) throw invalidRequest(problems);
  const pageSize = limit === undefined ? PAGE_SIZE.default : Number(limit);
  return { ...list, pageSize, after: after ?? null };
}

/** As `parseListQuery`, for listPetChanges. The service reads the cursor. */
function parseChangesQuery({ limit, status, cursor }: Record<string, unknown>): ChangesRequest<Pet> {
  const problems = problemsOf({ limit: wholeNumber(limit), status });
  if (problems.length > 0) throw invalidRequest(problems);
  const pageSize = limit === undefined ? MAX_PAGE_SIZE : Number(limit);
  const after = cursor === undefined ? null : String(cursor);
  return { after, field: 'cursor', pageSize, matches: hasStatus(status as PetStatus | undefined) };
}

/** SPEC's Pet. An unset status is left out: SPEC's status is optional, not nullable. */
function present({ id, name, categoryId, status }: Pet | ListedPet) {
  return { id: BigInt(id), name, categoryId: BigInt(categoryId), status: status ?? undefined };
}

/** RFC 9745 §2, RFC 8594 §3. */
function announceSunset(reply: FastifyReply, successorUrl: string): void {
  const { deprecatedAtMs, sunsetAtMs } = GET_PET_DEPRECATION;
  reply.header('deprecation', `@${deprecatedAtMs / 1000}`);
  reply.header('sunset', new Date(sunsetAtMs).toUTCString());
  const links = [`<${successorUrl}>; rel="successor-version"`, ...canonicalLinks(reply.request)];
  reply.header('link', links.join(', '));
}
