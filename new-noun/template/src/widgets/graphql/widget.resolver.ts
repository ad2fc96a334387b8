import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, Directive, ID, Info, Mutation, Query, Resolver } from 'type-graphql';
import { Call, type Context, serviceCallOf } from '../../doors/graphql/execution/context.js';
import { MAX_INPUTS } from '../../doors/graphql/operations/measured-operation.js';
import { answeredFields } from '../../doors/graphql/operations/operation-size.js';
import { Entries } from '../../doors/graphql/operations/type-options.js';
import type { ServiceCall } from '../../ground/kernel/caller.js';
import { invalidRequest } from '../../ground/kernel/errors.js';
import { got } from '../../ground/kernel/got.js';
import { parseRecordId } from '../../ground/kernel/int64.js';
import { PAGE_SIZE, pageSizeSchema, validator } from '../../ground/kernel/validation.js';
import { WIDGET } from '../widget.description.js';
import { WIDGET_RULES } from '../widget.rules.js';
import type { WidgetService } from '../widget.service.js';
import { cursorsOf, type WidgetListRequest } from '../widget-list.js';
import {
  DeletedWidgetType,
  NewWidgetInput,
  presentPage,
  presentWidget,
  WidgetChangesInput,
  WidgetConnectionType,
  WidgetListArgs,
  WidgetType,
} from './widget.type.js';

@Resolver(() => WidgetType)
export class WidgetResolver {
  constructor(private readonly service: WidgetService) {}

  @Directive('@cacheControl(maxAge: 0, scope: PRIVATE)')
  @Query(() => WidgetConnectionType, {
    description: 'Widgets of the project, oldest first unless `orderBy` says otherwise.',
  })
  async widgets(
    @Ctx() context: Context,
    @Args(() => WidgetListArgs) args: WidgetListArgs,
  ): Promise<WidgetConnectionType> {
    const wanted = parseListArgs(args);
    return presentPage(await this.service.list(serviceCallOf(context), wanted), wanted);
  }

  @Query(() => WidgetType, { nullable: true, description: 'A widget of the project.' })
  async widget(
    @Ctx() context: Context,
    @Arg('id', () => ID, { description: "The widget's identifier." }) id: string,
  ): Promise<WidgetType> {
    return presentWidget(await this.service.get(serviceCallOf(context), parseRecordId(id, WIDGET.singular)));
  }

  @Directive('@rateLimit(max: 300, window: "1m")')
  @Mutation(() => WidgetType, {
    description: 'Adds a widget. With an `Idempotency-Key` a repeated request creates nothing.',
  })
  async createWidget(
    @Call() call: ServiceCall,
    @Arg('input', () => NewWidgetInput, { description: 'The widget.' }) input: NewWidgetInput,
  ): Promise<WidgetType> {
    return presentWidget(await this.service.create(call, WIDGET_RULES.parse(stated(input))));
  }

  @Entries(MAX_INPUTS)
  @Directive('@rateLimit(max: 100, window: "1m")')
  @Mutation(() => [WidgetType], { description: `Adds 1 to ${MAX_INPUTS} widgets, all of them or none.` })
  async createWidgets(
    @Call() call: ServiceCall,
    @Arg('inputs', () => [NewWidgetInput], { description: 'The widgets.' }) inputs: NewWidgetInput[],
  ): Promise<WidgetType[]> {
    return (await this.service.createAll(call, WIDGET_RULES.parseAll(inputs.map(stated)))).map(presentWidget);
  }

  @Directive('@rateLimit(max: 300, window: "1m")')
  @Mutation(() => WidgetType, { description: 'Changes a widget; at least one field is required.' })
  async updateWidget(
    @Call() call: ServiceCall,
    @Info() info: GraphQLResolveInfo,
    @Arg('id', () => ID, { description: "The widget's identifier." }) id: string,
    @Arg('input', () => WidgetChangesInput, { description: 'The changes.' }) input: WidgetChangesInput,
  ): Promise<WidgetType> {
    const changes = WIDGET_RULES.parseChanges({ ...input });
    return presentWidget(
      await this.service.update(call, parseRecordId(id, WIDGET.singular), changes, answeredFields(info)),
    );
  }

  @Directive('@rateLimit(max: 300, window: "1m")')
  @Mutation(() => DeletedWidgetType, { description: 'Deletes a widget for good.' })
  async deleteWidget(
    @Call() call: ServiceCall,
    @Arg('id', () => ID, { description: "The widget's identifier." }) id: string,
  ): Promise<DeletedWidgetType> {
    return { id: String(await this.service.delete(call, parseRecordId(id, WIDGET.singular))) };
  }
}

const problemsOf = validator({ type: 'object', properties: { first: pageSizeSchema(WIDGET.plural) } });

/** Throws `AppError invalid_request` that names each invalid argument. */
function parseListArgs({ first, after, state, orderBy }: WidgetListArgs): WidgetListRequest {
  const list = { state: state ?? null, orderBy: orderBy ?? 'OLDEST' };
  const pageSize = first ?? PAGE_SIZE.default;
  const problems = problemsOf({ first: pageSize });
  const position = typeof after === 'string' ? cursorsOf(list).decode(after) : null;
  if (typeof after === 'string' && position === null) {
    problems.push({
      field: 'after',
      message: got('must be a cursor of this list, with the same order and filters', after),
    });
  }
  if (problems.length > 0) throw invalidRequest(problems);
  return { ...list, pageSize, afterId: position?.id ?? null };
}

/** For the rules: null states nothing. */
function stated(input: NewWidgetInput): object {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
}
