import type { FastifyReply, FastifyRequest } from 'fastify';
import { Arg, Ctx, ID, Query, Resolver } from 'type-graphql';
import { Batch } from '../doors/graphql/execution/batch.js';
import { type Context, serviceCallOf as callOf } from '../doors/graphql/execution/context.js';
import type { AddRoutes } from '../doors/rest/rest.door.js';
import { nameIgnored } from '../doors/rest/rest.hooks.js';
import { requireScope, type ServiceCall } from '../ground/kernel/caller.js';
import { AppError } from '../ground/kernel/errors.js';
import { parseRecordId } from '../ground/kernel/int64.js';
import type { NounParts, OwnDoors } from '../noun/define-noun.js';
import type { NounService } from '../noun/records/noun.service.js';
import type { NounRow } from '../noun/records/row.js';
import { schemasOf } from '../noun/records/schemas.js';
import { presenter } from '../noun/rest/noun.routes.js';
import { serviceCallOf } from '../request/admission/admission.js';
import { canonicalLinks } from '../request/http/headers.js';
import { restrictMethods } from '../request/http/unrouted.js';

/** Spec: getPet, Versioning 2. The single source for REST's headers, OpenAPI, the GraphQL schema and the sunset. D-18. */
export const GET_PET_DEPRECATION = {
  deprecatedAtMs: Date.UTC(2025, 11, 5),
  sunsetAtMs: Date.UTC(2030, 11, 5),
  sunsetDate: '2030-12-05',
  graphqlReason: 'Removed on 2030-12-05. Use `pets(ids: […])`.',
} as const;

export const GONE_MESSAGE = `Reading one pet was removed on ${GET_PET_DEPRECATION.sunsetDate}. Use GET /v1/pets with a status filter, or over GraphQL pets(ids: […]), which reads pets by their identifiers.`;

/** Reads pets until the sunset. Throws `AppError forbidden`, then `gone`. */
class PetReader {
  constructor(
    readonly service: NounService,
    private readonly now: () => number,
  ) {}

  async get(call: ServiceCall, id: bigint): Promise<NounRow> {
    this.requireGettable(call);
    return this.service.get(call, id);
  }

  /** As `get`, for several pets with one query; unknown ids are left out. */
  async getAll(call: ServiceCall, ids: readonly bigint[]): Promise<Map<bigint, NounRow>> {
    this.requireGettable(call);
    return this.service.getAll(call, ids);
  }

  private requireGettable({ caller }: ServiceCall): void {
    requireScope(caller, 'pets:read');
    if (this.now() >= GET_PET_DEPRECATION.sunsetAtMs) throw new AppError('gone', GONE_MESSAGE);
  }
}

/** SPEC's deprecated getPet, in both APIs. */
export function doors({ model, RecordType, present }: NounParts): OwnDoors {
  @Resolver()
  class PetResolver {
    private readonly single = new Batch<bigint, NounRow | undefined>(async (context, ids) => {
      const found = await this.pets.getAll(callOf(context), ids);
      return ids.map((id) => found.get(id));
    });

    constructor(private readonly pets: PetReader) {}

    @Query(() => RecordType, {
      nullable: true,
      description: 'A pet of the project.',
      deprecationReason: GET_PET_DEPRECATION.graphqlReason,
    })
    async pet(
      @Ctx() context: Context,
      @Arg('id', () => ID, { description: "The pet's identifier." }) text: string,
    ): Promise<object> {
      const id = parseRecordId(text, 'pet');
      return present((await this.single.join(context, id)) ?? this.pets.service.refuseUnknown(id));
    }
  }

  return {
    Resolver: PetResolver,
    open(service, now) {
      const pets = new PetReader(service, now);
      return { resolver: new PetResolver(pets), routes: routesOf(pets, model) };
    },
  };
}

function routesOf(pets: PetReader, model: NounParts['model']): AddRoutes {
  const present = presenter(model);
  const { record } = schemasOf(model);
  return (app, baseUrl) => {
    const announce = (reply: FastifyReply) => announceSunset(reply, `${baseUrl(reply.request)}/pets`);
    const options = { schema: { response: { 200: record } }, config: { operationId: 'getPet', announce } };
    app.get('/pets/:petId', options, async (request: FastifyRequest, reply) => {
      const id = parseRecordId((request.params as { petId: string }).petId, 'pet');
      const pet = await pets.get(serviceCallOf(request, reply), id);
      nameIgnored(reply);
      return present(pet);
    });
    restrictMethods(app, '/pets/:petId', ['GET'], { announce });
  };
}

/** RFC 9745 §2, RFC 8594 §3. */
function announceSunset(reply: FastifyReply, successorUrl: string): void {
  const { deprecatedAtMs, sunsetAtMs } = GET_PET_DEPRECATION;
  reply.header('deprecation', `@${deprecatedAtMs / 1000}`);
  reply.header('sunset', new Date(sunsetAtMs).toUTCString());
  const links = [`<${successorUrl}>; rel="successor-version"`, ...canonicalLinks(reply.request)];
  reply.header('link', links.join(', '));
}
