import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, FieldResolver, Info, Mutation, Query, Resolver } from 'type-graphql';
import { keyActor } from '../audit/audit-log.js';
import { requireScope } from '../caller.js';
import type { IdempotencyService } from '../idempotency/idempotency.service.js';
import type { Project } from '../projects/project.entity.js';
import type { ProjectService } from '../projects/project.service.js';
import type { UsageWindow } from '../usage/buckets.js';
import type { UsageService } from '../usage/usage.service.js';
import { Batch } from './batch.js';
import { type Context, idempotencyKeyOf } from './context.js';
import { PROJECT_JSON, ProjectType, presentProject } from './project.type.js';
import { Statements } from './statements.js';
import { presentUsage, UsageType, UsageWindowEnum } from './usage.type.js';

/** Where clients find the gateway and its projects. */
interface ProjectAddresses {
  /** Without a trailing slash and without `/v1`. */
  base: () => string;
  ofProject: (slug: string) => string;
}

@Resolver(() => ProjectType)
export class ProjectResolver {
  private readonly own = new Batch<null, ProjectType>(async ({ caller }) =>
    this.present(await this.projects.get(caller.projectId)),
  );
  private readonly usageOf = new Batch<UsageWindow, Map<UsageWindow, UsageType>>(
    async ({ caller }, windows) =>
      new Map(
        await Promise.all(
          [...new Set(windows)].map(
            async (window) =>
              [window, presentUsage(await this.usages.read(caller.projectId, window))] as const,
          ),
        ),
      ),
  );

  constructor(
    private readonly projects: ProjectService,
    private readonly idempotency: IdempotencyService,
    private readonly usages: UsageService,
    private readonly addresses: ProjectAddresses,
  ) {}

  @Statements(1)
  @Query(() => ProjectType, { description: "The caller's project." })
  project(@Ctx() context: Context): Promise<ProjectType> {
    return this.own.join(context, null);
  }

  @Statements(5)
  @Mutation(() => ProjectType, {
    description: 'Records a successful deploy of the project, now. Needs the scope `domains`.',
  })
  async publishProject(@Ctx() context: Context, @Info() info: GraphQLResolveInfo): Promise<ProjectType> {
    const { caller, requestId } = context;
    requireScope(caller, 'domains');
    const publish = async () =>
      this.present(await this.projects.publish(keyActor(caller, requestId), caller.projectId));
    const key = idempotencyKeyOf(context, info);
    if (key === null) return publish();
    return this.idempotency.once(
      { caller, key, operation: 'publishProject', input: [] },
      publish,
      PROJECT_JSON,
    );
  }

  @FieldResolver(() => String, { description: 'Where its REST interface is reached, ending in `/v1`.' })
  apiUrl(@Ctx() { origin }: Context): string {
    return `${origin ?? this.addresses.base()}/v1`;
  }

  @FieldResolver(() => String, { description: 'Where its GraphQL interface is reached.' })
  graphqlUrl(@Ctx() { origin }: Context): string {
    return `${origin ?? this.addresses.base()}/graphql`;
  }

  /** One for each window. */
  @Statements(2)
  @FieldResolver(() => UsageType, {
    description:
      'How many requests its keys made, all processes together; those of the last seconds may be missing.',
  })
  async usage(
    @Ctx() context: Context,
    @Arg('window', () => UsageWindowEnum, { description: 'Which time to look at.' }) window: UsageWindow,
  ): Promise<UsageType> {
    return (await this.usageOf.join(context, window)).get(window) as UsageType;
  }

  private present(project: Project): ProjectType {
    return presentProject(project, this.addresses.ofProject(project.slug));
  }
}
