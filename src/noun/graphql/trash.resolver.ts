import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, Directive, Field, ID, Info, Int, Mutation, Query, Resolver } from 'type-graphql';
import { Call, type Context, serviceCallOf } from '../../doors/graphql/execution/context.js';
import { answeredFields } from '../../doors/graphql/operations/operation-size.js';
import {
  COUNTED_BY_FIRST,
  Entries,
  PlainType,
  TimeField,
} from '../../doors/graphql/operations/type-options.js';
import { NodesPageInfo, PageInfoType } from '../../doors/graphql/schema/lists/page.js';
import type { ServiceCall } from '../../ground/kernel/caller.js';
import { DAY_MS } from '../../ground/kernel/duration.js';
import { invalidField, invalidRequest } from '../../ground/kernel/errors.js';
import { got } from '../../ground/kernel/got.js';
import { parseRecordId } from '../../ground/kernel/int64.js';
import { PAGE_SIZE, pageSizeSchema, validator } from '../../ground/kernel/validation.js';
import type { NounModel } from '../definition/model.js';
import type { NounRow } from '../records/row.js';
import { type DeletedRow, deletedCursors, RESTORABLE_DAYS } from '../tables/noun-trash.js';
import type { TrashService } from '../tables/trash.service.js';

/** The resolver of the deleted records of a noun. Call it once for a noun. */
export function trashResolver(
  model: NounModel,
  RecordType: new () => object,
  present: (row: NounRow) => object,
) {
  const { page } = model;
  const { singular, plural, type, withArticle } = model.description;
  const cursors = deletedCursors(model);
  const problemsOf = validator({ type: 'object', properties: { first: pageSizeSchema(plural) } });

  @PlainType(`Restorable${type}`, `A deleted ${singular} that can be restored.`)
  class RestorableType {
    @TimeField('When it was deleted.')
    deletedAtMs!: number;

    @TimeField('It can be restored before this time, and is deleted for good then.')
    restorableUntilMs!: number;

    @Field(() => RecordType, { name: singular, description: `The ${singular} as it was.`, simple: false })
    record!: object;

    cursor!: string;
  }

  @PlainType(`Restorable${type}Connection`, `Deleted ${plural}, the last deleted one first.`)
  class RestorableConnection {
    @Entries(COUNTED_BY_FIRST)
    @Field(() => [RestorableType], { description: `The deleted ${plural}.` })
    nodes!: RestorableType[];

    @Field(() => PageInfoType, { description: 'The position of the page in the list.' })
    pageInfo!: PageInfoType;
  }

  const restorable = (row: DeletedRow): RestorableType => {
    const deletedAtMs = Number(row.deletedAtMs);
    return {
      deletedAtMs,
      restorableUntilMs: deletedAtMs + RESTORABLE_DAYS * DAY_MS,
      record: present({ ...row, createdAtMs: Number(row.createdAtMs) } as unknown as NounRow),
      cursor: cursors.encode({ id: row.id, text: row.deletedAtMs }),
    };
  };

  @Resolver(() => RecordType)
  class TrashResolver {
    constructor(readonly trash: TrashService) {}

    @Directive('@cacheControl(maxAge: 0, scope: PRIVATE)')
    @Query(() => RestorableConnection, {
      name: `deleted${page}`,
      description: `${page} of the project that were deleted in the last ${RESTORABLE_DAYS} days, the last deleted one first. \`restore${type}\` restores one.`,
    })
    async deleted(
      @Ctx() context: Context,
      @Arg('first', () => Int, {
        nullable: true,
        defaultValue: PAGE_SIZE.default,
        description: `How many ${plural}: ${PAGE_SIZE.minimum} to ${PAGE_SIZE.maximum}.`,
      })
      first: number | null,
      @Arg('after', () => String, { nullable: true, description: 'Only those after this cursor.' })
      after?: string | null,
    ): Promise<RestorableConnection> {
      const pageSize = first ?? PAGE_SIZE.default;
      const problems = problemsOf({ first: pageSize });
      if (problems.length > 0) throw invalidRequest(problems);
      const position = typeof after === 'string' ? cursors.decode(after) : undefined;
      if (position === null) throw invalidField('after', got('must be a cursor of this list', after));
      const found = await this.trash.list(serviceCallOf(context), { pageSize, after: position ?? null });
      const nodes = found.rows.map(restorable);
      return { nodes, pageInfo: new NodesPageInfo(nodes, position !== undefined, found.hasNextPage) };
    }

    @Directive('@rateLimit(max: 300, window: "1m")')
    @Mutation(() => RecordType, {
      name: `restore${type}`,
      description: `Restores ${withArticle} with its identifier, if it was deleted in the last ${RESTORABLE_DAYS} days; its change is \`CREATED\`. With an \`Idempotency-Key\` header a repeated request answers as the first one did. Without the scope \`${plural}:read\` the response may contain only \`id\`.`,
    })
    async restore(
      @Call() call: ServiceCall,
      @Info() info: GraphQLResolveInfo,
      @Arg('id', () => ID, { description: `The identifier of the deleted ${singular}.` }) id: string,
    ) {
      return present(await this.trash.restore(call, parseRecordId(id, singular), answeredFields(info)));
    }
  }
  return TrashResolver;
}
