import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, Directive, ID, Info, Int, Mutation, Query, Resolver } from 'type-graphql';
import { AppError, type FieldProblem, invalidRequest } from '../errors.js';
import { parseInt64 } from '../int64.js';
import { GET_PET_DEPRECATION } from '../pets/get-pet-deprecation.js';
import type { Pet, PetStatus } from '../pets/pet.entity.js';
import {
  PAGE_SIZE,
  pageSizeSchema,
  parseNewPet,
  parsePetChanges,
  requireAnswerable,
} from '../pets/pet.rules.js';
import { type PetService, refuseUnknownPet } from '../pets/pet.service.js';
import { decodeCursor } from '../pets/pet-cursor.js';
import { Batch } from './batch.js';
import { type Context, idempotencyKeyOf } from './context.js';
import { answeredFields } from './operation-size.js';
import {
  NewPetInput,
  PetChangesInput,
  PetConnectionType,
  PetStatusEnum,
  PetType,
  presentPage,
  presentPet,
} from './pet.type.js';
import { Statements } from './statements.js';

@Resolver(() => PetType)
export class PetResolver {
  private readonly single = new Batch<bigint, Map<bigint, Pet>>(({ caller }, ids) =>
    this.service.getAll(caller, [...new Set(ids)]),
  );

  constructor(private readonly service: PetService) {}

  @Statements(1, { isJoint: false })
  @Directive('@cacheControl(maxAge: 0, scope: PRIVATE)')
  @Query(() => PetConnectionType, { description: 'Pets of the project, oldest first.' })
  async pets(
    @Ctx() { caller }: Context,
    @Arg('first', () => Int, {
      nullable: true,
      defaultValue: PAGE_SIZE.default,
      description: `How many: ${PAGE_SIZE.minimum} to ${PAGE_SIZE.maximum}.`,
    })
    first: number | null,
    @Arg('after', () => String, { nullable: true, description: 'Only pets after this cursor.' })
    after?: string | null,
    @Arg('status', () => PetStatusEnum, { nullable: true, description: 'Only pets with this status.' })
    status?: PetStatus | null,
  ): Promise<PetConnectionType> {
    const pageSize = first ?? PAGE_SIZE.default;
    const afterId = typeof after === 'string' ? decodeCursor(after) : null;
    const problems: FieldProblem[] = [];
    if (pageSize < PAGE_SIZE.minimum || pageSize > PAGE_SIZE.maximum) {
      problems.push({ field: 'first', message: pageSizeSchema.rule });
    }
    if (typeof after === 'string' && afterId === null) {
      problems.push({ field: 'after', message: 'must be a cursor of this list' });
    }
    if (problems.length > 0) throw invalidRequest(problems);
    const page = await this.service.list(caller, { pageSize, status: status ?? null, afterId });
    return presentPage(page, afterId !== null);
  }

  @Statements(1)
  @Query(() => PetType, {
    nullable: true,
    description: 'One pet.',
    deprecationReason: GET_PET_DEPRECATION.graphqlReason,
  })
  async pet(
    @Ctx() context: Context,
    @Arg('id', () => ID, { description: 'Its identifier.' }) text: string,
  ): Promise<PetType> {
    const id = petId(text);
    const found = await this.single.join(context, id);
    return presentPet(found.get(id) ?? refuseUnknownPet(id));
  }

  @Statements(1)
  @Directive('@rateLimit(max: 300, window: "1m")')
  @Mutation(() => PetType, {
    description: 'Adds a pet. With an `Idempotency-Key` header a repetition creates nothing.',
  })
  async createPet(
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
    @Arg('input', () => NewPetInput, { description: 'The pet.' }) input: NewPetInput,
  ): Promise<PetType> {
    const { name, status } = input;
    const pet = parseNewPet({ name, categoryId: int64(input.categoryId), ...(status ? { status } : {}) });
    return presentPet(await this.service.create(context.caller, pet, idempotencyKeyOf(context, info)));
  }

  @Statements(2)
  @Directive('@rateLimit(max: 300, window: "1m")')
  @Mutation(() => PetType, {
    description:
      'Changes a pet; at least one field is given. With an `Idempotency-Key` header a repetition changes nothing. Without the scope `pets:read` the answer may have `id` and the fields that the input gives.',
  })
  async updatePet(
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
    @Arg('id', () => ID, { description: 'Its identifier.' }) id: string,
    @Arg('input', () => PetChangesInput, { description: 'The changes.' }) input: PetChangesInput,
  ): Promise<PetType> {
    const { categoryId } = input;
    const changes = parsePetChanges({
      ...input,
      ...(typeof categoryId === 'string' ? { categoryId: int64(categoryId) } : {}),
    });
    requireAnswerable(context.caller, changes, answeredFields(info));
    const key = idempotencyKeyOf(context, info);
    return presentPet(await this.service.update(context.caller, petId(id), changes, key));
  }
}

/** An id that is no integer belongs to no pet. Throws `AppError not_found`. */
function petId(text: string): bigint {
  const id = parseInt64(text);
  if (id === null) throw new AppError('not_found', 'There is no such pet: its id is an integer.');
  return id;
}

/** Text that is no 64-bit integer stays text, for the rules of the pet to refuse. */
function int64(text: string): bigint | string {
  return parseInt64(text) ?? text;
}
