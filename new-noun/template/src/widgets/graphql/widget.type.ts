import { GraphQLDateTime } from 'graphql-scalars';
import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import {
  COUNTED_BY_FIRST,
  describedEnum,
  Entries,
  PlainType,
} from '../../doors/graphql/operations/type-options.js';
import { NodesPageInfo, PageInfoType } from '../../doors/graphql/schema/lists/page.js';
import { type ListOrder, PAGE_SIZE } from '../../ground/kernel/validation.js';
import type { Widget, WidgetState } from '../widget.entity.js';
import { cursorsOf, type WidgetListRequest, type WidgetPage } from '../widget-list.js';

const WidgetStateEnum = describedEnum<WidgetState>('WidgetState', 'The state of a widget.', {
  draft: 'Not in use yet.',
  active: 'In use.',
  archived: 'Not in use any more.',
});

const WidgetOrderEnum = describedEnum<ListOrder>('WidgetOrder', 'The order of a list of widgets.', {
  OLDEST: 'The widget that was added first comes first.',
  NEWEST: 'The widget that was added last comes first.',
});

/** The fields of a widget that a client states. */
@InputType()
abstract class WidgetFields {
  @Field(() => WidgetStateEnum, { nullable: true, description: 'Its state.' })
  state?: WidgetState | null;
}

@InputType('NewWidget', { description: 'A widget to create: `{name: "First widget", state: active}`.' })
export class NewWidgetInput extends WidgetFields {
  @Field(() => String, { description: 'Its name: 1 to 200 characters.' })
  name!: string;
}

@InputType('WidgetChanges', {
  description: 'Changes to a widget; a field left out stays: `{state: archived}`.',
})
export class WidgetChangesInput extends WidgetFields {
  @Field(() => String, { nullable: true, description: 'Its new name, never null.' })
  name?: string | null;
}

@PlainType('Widget', 'A widget.')
export class WidgetType {
  @Field(() => ID, { description: 'Unique identifier: the digits of a 64-bit integer.' })
  id!: string;

  @Field(() => String, { description: 'Its name.' })
  name!: string;

  @Field(() => WidgetStateEnum, { nullable: true, description: 'Its state.' })
  state!: WidgetState | null;

  @Field(() => GraphQLDateTime, { description: 'When the widget was added.' })
  createdAt!: Date;
}

@PlainType('WidgetEdge', 'A widget and its position in the list.')
class WidgetEdgeType {
  @Field(() => String, { description: 'The position of this widget, for `after`.' })
  cursor!: string;

  @Field(() => WidgetType, { description: 'The widget.' })
  node!: WidgetType;
}

@PlainType('WidgetConnection', 'A page of widgets, in the order of the list.')
export class WidgetConnectionType {
  @Entries(COUNTED_BY_FIRST)
  @Field(() => [WidgetEdgeType], { description: 'The widgets with their cursors.' })
  edges!: WidgetEdgeType[];

  @Entries(COUNTED_BY_FIRST)
  @Field(() => [WidgetType], { description: 'The widgets.' })
  nodes!: WidgetType[];

  @Field(() => PageInfoType, { description: 'The position of the page in the list.' })
  pageInfo!: PageInfoType;
}

@PlainType('DeletedWidget', 'The result of `deleteWidget`.')
export class DeletedWidgetType {
  @Field(() => ID, { description: 'The identifier that the widget had; no other widget gets it.' })
  id!: string;
}

@ArgsType()
export class WidgetListArgs {
  @Field(() => Int, { nullable: true, defaultValue: PAGE_SIZE.default, description: 'How many: 1 to 100.' })
  first?: number | null;

  @Field(() => String, { nullable: true, description: 'Only widgets after this cursor of the same list.' })
  after?: string | null;

  @Field(() => WidgetStateEnum, { nullable: true, description: 'Only widgets with this state.' })
  state?: WidgetState | null;

  @Field(() => WidgetOrderEnum, { nullable: true, defaultValue: 'OLDEST', description: 'What comes first.' })
  orderBy?: ListOrder | null;
}

export function presentWidget({ id, createdAtMs, projectId: _, ...widget }: Widget): WidgetType {
  return { ...widget, id: String(id), createdAt: new Date(createdAtMs) };
}

export function presentPage(
  { widgets, hasNextPage }: WidgetPage,
  list: WidgetListRequest,
): WidgetConnectionType {
  const cursors = cursorsOf(list);
  const edges = widgets.map((widget) => ({ cursor: cursors.encode(widget), node: presentWidget(widget) }));
  const pageInfo = new NodesPageInfo(edges, list.afterId !== null, hasNextPage);
  return { edges, nodes: edges.map(({ node }) => node), pageInfo };
}
