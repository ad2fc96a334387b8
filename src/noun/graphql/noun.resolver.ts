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
import { BY_SOURCE } from '../../doors/graphql/execution/subscription-fields.js';
import { MAX_INPUTS } from '../../doors/graphql/operations/measured-operation.js';
import { answeredFields } from '../../doors/graphql/operations/operation-size.js';
import { Entries } from '../../doors/graphql/operations/type-options.js';
import type { ServiceCall } from '../../ground/kernel/caller.js';
import { parseRecordId } from '../../ground/kernel/int64.js';
import { capitalized } from '../../noun-words.js';
import type { NounModel } from '../definition/model.js';
import type { NounService, Values } from '../records/noun.service.js';
import type { NounRow } from '../records/row.js';
import { rulesOf } from '../records/schemas.js';
import { addActions } from './noun.actions.js';
import { nounArguments } from './noun.arguments.js';
import { type NounTypes, nounTypes, parsed } from './noun.types.js';

/** A count reads an index entry for each record: 100,000 take about 4 ms on SQLite. */
const MAX_COUNT = 100_000;

/** The resolver of a noun, and the type of its records for resolvers beside it. Call it once for a noun. */
export function nounResolver(model: NounModel, hasGet: boolean) {
  const { description, page, fields, wholeFilters, startFilters, rangeFilters } = model;
  const { singular, plural, type, withArticle, hasCount, hasChanges } = description;
  const types = nounTypes(model);
  const { RecordType, ConnectionType, DeletedType, NewInput, ChangesInput, changes, present } = types;
  const { ListArgs, CountArgs, FollowedArgs, ChangeArgs, listOf, changesOf } = nounArguments(
    model,
    types.fieldTypes,
  );
  const rules = rulesOf(model);
  const ordering = [
    ...startFilters.map(({ argument }) => `\`${argument}\``),
    ...(rangeFilters.length > 0 ? ['a range'] : []),
  ];
  const orders = ['`orderBy`', ...ordering].join(' or ');
  const follow = hasChanges
    ? ` Follow \`${singular}Changes\` for new ${plural}: the last cursor does not find each one.`
    : '';
  const filtered = wholeFilters.map(({ argument }) => `\`${argument}\``).join(' or ');
  const rare = filtered ? `, so one with ${filtered} may have few or none while \`hasNextPage\` is true` : '';
  const anId = `The ${singular}'s identifier`;
  /** Null states nothing. */
  const newRecordOf = (input: Values) => parsed(fields, input, (value) => value !== null);

  @Resolver(() => RecordType)
  class NounResolver {
    readonly single = new Batch<bigint, NounRow | undefined>(async (context, ids) => {
      const found = await this.service.getAll(serviceCallOf(context), ids);
      return ids.map((id) => found.get(id));
    });

    constructor(readonly service: NounService) {}

    @Directive('@cacheControl(maxAge: 0, scope: PRIVATE)')
    @Query(() => ConnectionType, {
      name: plural,
      description: `${page} of the project, oldest first unless ${orders} says otherwise. Every page is read by an index, however far the page. Each ${singular} that was created before the first page, and is not changed meanwhile, is on exactly one page.${follow}`,
    })
    async list(@Ctx() context: Context, @Args(() => ListArgs) args: object) {
      const wanted = listOf(args as Values);
      return types.presentPage(await this.service.list(serviceCallOf(context), wanted), wanted);
    }

    @If(hasCount, () => [
      Directive('@cacheControl(maxAge: 0, scope: PRIVATE)'),
      Query(() => Int, {
        name: `${singular}Count`,
        description: `How many ${plural} a list with these filters has. Counting ends at ${MAX_COUNT.toLocaleString('en')}.`,
      }),
    ])
    async count(@Ctx() context: Context, @Args(() => CountArgs) args: object): Promise<number> {
      const wanted = { ...listOf(args as Values), pageSize: MAX_COUNT };
      return this.service.count(serviceCallOf(context), wanted);
    }

    @If(changes !== null, () => [
      Query(() => (changes as Changes).ConnectionType, {
        name: `${singular}Changes`,
        description: `Changes of ${plural} in the order of their commits, from the oldest that is kept. A page examines at most 1,000 changes${rare}. Continue with \`endCursor\`.`,
      }),
    ])
    async changes(@Ctx() context: Context, @Args(() => ChangeArgs) args: object) {
      const wanted = changesOf(args as Values);
      const found = await this.service.changes(serviceCallOf(context), wanted);
      return (changes as Changes).presentPage(found, wanted.after !== null);
    }

    @If(changes !== null, () => [
      Subscription(() => (changes as Changes).ChangeType, {
        ...BY_SOURCE,
        name: `${singular}Changes`,
        description: `Changes of ${plural} as they are committed, each once and in order. Without \`after\` it begins now; resume with the cursor of the last change.`,
      }),
    ])
    async followChanges(@Ctx() context: Context, @Args(() => FollowedArgs) args: object) {
      const { after } = args as { after?: string | null };
      const wanted = changesOf({ ...args, after: context.lastEventId ?? after ?? null });
      return (changes as Changes).presentStream(
        await this.service.followChanges(serviceCallOf(context), wanted),
      );
    }

    @If(hasGet, () => [
      Query(() => RecordType, {
        name: singular,
        nullable: true,
        description: `${capitalized(withArticle)} of the project.`,
      }),
    ])
    async one(@Ctx() context: Context, @Arg('id', () => ID, { description: `${anId}.` }) text: string) {
      const id = parseRecordId(text, singular);
      return present((await this.single.join(context, id)) ?? this.service.refuseUnknown(id));
    }

    @Directive('@rateLimit(max: 300, window: "1m")')
    @Mutation(() => RecordType, {
      name: `create${type}`,
      description: `Adds ${withArticle}. With an \`Idempotency-Key\` header a repeated request creates nothing.`,
    })
    async create(
      @Call() call: ServiceCall,
      @Arg('input', () => NewInput, { description: `The ${singular}.` }) input: object,
    ) {
      return present(await this.service.create(call, rules.parse(newRecordOf(input as Values))));
    }

    @Entries(MAX_INPUTS)
    @Directive('@rateLimit(max: 100, window: "1m")')
    @Mutation(() => [RecordType], {
      name: `create${page}`,
      description: `Adds 1 to ${MAX_INPUTS} ${plural}, all of them or none, and returns them in the order of \`inputs\`. Costs one unit of the plan for every ten ${plural} begun. The problems of an invalid ${singular} name its position, such as \`inputs.17.${fields[0]?.name}\`. With an \`Idempotency-Key\` header a repeated request creates nothing.`,
    })
    async createAll(
      @Call() call: ServiceCall,
      @Arg('inputs', () => [NewInput], { description: `The ${plural}, 1 to ${MAX_INPUTS}.` })
      inputs: object[],
    ) {
      const records = rules.parseAll(inputs.map((input) => newRecordOf(input as Values)));
      return (await this.service.createAll(call, records)).map(present);
    }

    @Directive('@rateLimit(max: 300, window: "1m")')
    @Mutation(() => RecordType, {
      name: `update${type}`,
      description: `Changes ${withArticle}; at least one field is required. With an \`Idempotency-Key\` header a repeated request changes nothing. Without the scope \`${plural}:read\` the response may contain only \`id\` and the fields of the input.`,
    })
    async update(
      @Call() call: ServiceCall,
      @Info() info: GraphQLResolveInfo,
      @Arg('id', () => ID, { description: `${anId}.` }) text: string,
      @Arg('input', () => ChangesInput, { description: 'The changes.' }) input: object,
    ) {
      const wanted = rules.parseChanges(parsed(fields, input as Values, () => true));
      const id = parseRecordId(text, singular);
      return present(await this.service.update(call, id, wanted, answeredFields(info)));
    }

    @Directive('@rateLimit(max: 300, window: "1m")')
    @Mutation(() => DeletedType, {
      name: `delete${type}`,
      description: `Deletes ${withArticle}${model.hasTrash ? `; \`restore${type}\` restores it for 30 days` : ' for good'}. An unknown identifier is \`NOT_FOUND\`. With an \`Idempotency-Key\` header a repeated request answers as the first one did.`,
    })
    async delete(
      @Call() call: ServiceCall,
      @Arg('id', () => ID, { description: `${anId}, for example \`4711\`.` }) id: string,
    ) {
      return { id: String(await this.service.delete(call, parseRecordId(id, singular))) };
    }
  }

  addActions(model, NounResolver, types);
  return { NounResolver, RecordType, present, nested: { model, listOf, presentPage: types.presentPage } };
}

type Changes = NonNullable<NounTypes['changes']>;

/** Decorates a method only if the noun has it. */
function If(isOn: boolean, decorators: () => readonly MethodDecorator[]): MethodDecorator {
  return (target, key, descriptor) => {
    if (!isOn) return;
    for (const decorate of decorators()) decorate(target, key, descriptor);
  };
}
