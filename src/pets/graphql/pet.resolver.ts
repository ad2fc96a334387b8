import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  Ctx,
  Directive,
  ID,
  Info,
  Int,
  Mutation,
  Query,
  Resolver,
  Subscription,
} from 'type-graphql';
import { Batch } from '../../doors/graphql/execution/batch.js';
import { Call, type Context, serviceCallOf } from '../../doors/graphql/execution/context.js';
import { BY_SOURCE, type StreamSource } from '../../doors/graphql/execution/subscription-fields.js';
import { MAX_INPUTS } from '../../doors/graphql/operations/measured-operation.js';
import { answeredFields } from '../../doors/graphql/operations/operation-size.js';
import { Entries } from '../../doors/graphql/operations/type-options.js';
import type { ServiceCall } from '../../ground/kernel/caller.js';
import { int64OrText, parseRecordId } from '../../ground/kernel/int64.js';
import type { Change } from '../../ground/records/noun-changes.js';
import { PET } from '../pet.description.js';
import type { Pet, PetStatus } from '../pet.entity.js';
import { GET_PET_DEPRECATION, PET_RULES } from '../pet.rules.js';
import { type PetService, refuseUnknownPet } from '../pet.service.js';
import {
  DeletedPetType,
  NewPetInput,
  PET_CHANGES,
  PetChangesInput,
  PetConnectionType,
  PetStatusEnum,
  PetType,
  presentPage,
  presentPet,
} from './pet.type.js';
import {
  FollowedPetArgs,
  PetChangeArgs,
  PetListArgs,
  parseChangeArgs,
  parseListArgs,
} from './pet-list.args.js';

/** A count reads an index entry for each pet: 100,000 take about 4 ms on SQLite. */
const MAX_COUNT = 100_000;

@Resolver(() => PetType)
export class PetResolver {
  private readonly single = new Batch<bigint, Pet | undefined>(async (context, ids) => {
    const found = await this.service.getAll(serviceCallOf(context), ids);
    return ids.map((id) => found.get(id));
  });

  constructor(private readonly service: PetService) {}

  @Directive('@cacheControl(maxAge: 0, scope: PRIVATE)')
  @Query(() => PetConnectionType, {
    description:
      'Pets of the project, oldest first unless `orderBy` or `nameStartsWith` says otherwise. Every page is read by an index, however far the page. Each pet that was created before the first page, and is not changed meanwhile, is on exactly one page. Follow `petChanges` for new pets: the last cursor does not find each one.',
  })
  async pets(
    @Ctx() context: Context,
    @Args(() => PetListArgs) args: PetListArgs,
  ): Promise<PetConnectionType> {
    const wanted = parseListArgs(args);
    return presentPage(await this.service.list(serviceCallOf(context), wanted), wanted);
  }

  @Directive('@cacheControl(maxAge: 0, scope: PRIVATE)')
  @Query(() => Int, {
    description: `How many pets a list with these filters has. Counting ends at ${MAX_COUNT.toLocaleString('en')}.`,
  })
  async petCount(
    @Ctx() context: Context,
    @Arg('status', () => PetStatusEnum, { nullable: true, description: 'As in `pets`.' })
    status: PetStatus | null,
    @Arg('nameStartsWith', () => String, { nullable: true, description: 'As in `pets`.' })
    nameStartsWith: string | null,
  ): Promise<number> {
    const wanted = { ...parseListArgs({ status, nameStartsWith }), pageSize: MAX_COUNT };
    return this.service.count(serviceCallOf(context), wanted);
  }

  @Query(() => PET_CHANGES.ConnectionType, {
    description:
      'Changes of pets in the order of their commits, from the oldest that is kept. A page examines at most 1,000 changes, so one with `status` may have few or none while `hasNextPage` is true. Continue with `endCursor`.',
  })
  async petChanges(@Ctx() context: Context, @Args(() => PetChangeArgs) args: PetChangeArgs) {
    const wanted = parseChangeArgs(args);
    const page = await this.service.changes(serviceCallOf(context), wanted);
    return PET_CHANGES.presentPage(page, wanted.after !== null);
  }

  @Subscription(() => PET_CHANGES.ChangeType, {
    ...BY_SOURCE,
    name: 'petChanges',
    description:
      'Changes of pets as they are committed, each once and in order. Without `after` it begins now; resume with the cursor of the last change.',
  })
  async followPetChanges(
    @Ctx() context: Context,
    @Args(() => FollowedPetArgs) args: FollowedPetArgs,
  ): Promise<StreamSource<Change<Pet>>> {
    const wanted = parseChangeArgs({ ...args, after: context.lastEventId ?? args.after ?? null });
    return PET_CHANGES.presentStream(await this.service.followChanges(serviceCallOf(context), wanted));
  }

  @Query(() => PetType, {
    nullable: true,
    description: 'A pet of the project.',
    deprecationReason: GET_PET_DEPRECATION.graphqlReason,
  })
  async pet(
    @Ctx() context: Context,
    @Arg('id', () => ID, { description: "The pet's identifier." }) text: string,
  ): Promise<PetType> {
    const id = parseRecordId(text, PET.singular);
    return presentPet((await this.single.join(context, id)) ?? refuseUnknownPet(id));
  }

  @Directive('@rateLimit(max: 300, window: "1m")')
  @Mutation(() => PetType, {
    description: 'Adds a pet. With an `Idempotency-Key` header a repeated request creates nothing.',
  })
  async createPet(
    @Call() call: ServiceCall,
    @Arg('input', () => NewPetInput, { description: 'The pet.' }) input: NewPetInput,
  ): Promise<PetType> {
    const pet = PET_RULES.parse(newPetOf(input));
    return presentPet(await this.service.create(call, pet));
  }

  @Entries(MAX_INPUTS)
  @Directive('@rateLimit(max: 100, window: "1m")')
  @Mutation(() => [PetType], {
    description: `Adds 1 to ${MAX_INPUTS} pets, all of them or none, and returns them in the order of \`inputs\`. Costs one unit of the plan for every ten pets begun. The problems of an invalid pet name its position, such as \`inputs.17.name\`. With an \`Idempotency-Key\` header a repeated request creates nothing.`,
  })
  async createPets(
    @Call() call: ServiceCall,
    @Arg('inputs', () => [NewPetInput], { description: `The pets, 1 to ${MAX_INPUTS}.` })
    inputs: NewPetInput[],
  ): Promise<PetType[]> {
    const pets = PET_RULES.parseAll(inputs.map(newPetOf));
    return (await this.service.createAll(call, pets)).map(presentPet);
  }

  @Directive('@rateLimit(max: 300, window: "1m")')
  @Mutation(() => PetType, {
    description:
      'Changes a pet; at least one field is required. With an `Idempotency-Key` header a repeated request changes nothing. Without the scope `pets:read` the response may contain only `id` and the fields of the input.',
  })
  async updatePet(
    @Call() call: ServiceCall,
    @Info() info: GraphQLResolveInfo,
    @Arg('id', () => ID, { description: "The pet's identifier." }) id: string,
    @Arg('input', () => PetChangesInput, { description: 'The changes.' }) input: PetChangesInput,
  ): Promise<PetType> {
    const { categoryId } = input;
    const changes = PET_RULES.parseChanges({
      ...input,
      ...(typeof categoryId === 'string' ? { categoryId: int64OrText(categoryId) } : {}),
    });
    return presentPet(
      await this.service.update(call, parseRecordId(id, PET.singular), changes, answeredFields(info)),
    );
  }

  @Directive('@rateLimit(max: 300, window: "1m")')
  @Mutation(() => DeletedPetType, {
    description:
      'Deletes a pet for good. An unknown identifier is `NOT_FOUND`. With an `Idempotency-Key` header a repeated request answers as the first one did.',
  })
  async deletePet(
    @Call() call: ServiceCall,
    @Arg('id', () => ID, { description: "The pet's identifier, for example `4711`." }) id: string,
  ): Promise<DeletedPetType> {
    return { id: String(await this.service.delete(call, parseRecordId(id, PET.singular))) };
  }
}

/** For the rules of the pet: null states no status. */
function newPetOf({ name, categoryId, status }: NewPetInput) {
  return { name, categoryId: int64OrText(categoryId), ...(status ? { status } : {}) };
}
