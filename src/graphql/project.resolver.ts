import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, FieldResolver, Info, Mutation, Query, Resolver } from 'type-graphql';
import { keyActor } from '../audit/audit-log.js';
import { requireScope } from '../caller.js';
import type { IdempotencyService } from '../idempotency/idempotency.service.js';
import type { Project } from '../projects/project.entity.js';
import type { ProjectService } from '../projects/project.service.js';
import type { UsageWindow } from '../usage/buckets.js';
import type { UsageService } from '../usage/usage.service.js';
import { type Context, idempotencyKeyOf } from './context.js';
import { PROJECT_JSON, ProjectType, presentProject } from './project.type.js';
import { presentUsage, UsageType, UsageWindowEnum } from './usage.type.js';

/** Where clients find the gateway and its projects. */
interface ProjectAddresses {
  /** Without a trailing slash and without `/v1`. */
  base: () => string;
  ofProject: (slug: string) => string;
}

@Resolver(() => ProjectType)
export class ProjectResolver {
  constructor(
    private readonly projects: ProjectService,
    private readonly idempotency: IdempotencyService,
    private readonly usages: UsageService,
    private readonly addresses: ProjectAddresses,
  ) {}

  @Query(() => ProjectType, { description: "The caller's project." })
  async project(@Ctx() { caller }: Context): Promise<ProjectType> {
    return this.present(await this.projects.get(caller.projectId));
  }

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

  @FieldResolver(() => UsageType, {
    description:
      'How many requests its keys made, all processes together; those of the last seconds may be missing.',
  })
  async usage(
    @Ctx() { caller }: Context,
    @Arg('window', () => UsageWindowEnum, { description: 'Which time to look at.' }) window: UsageWindow,
  ): Promise<UsageType> {
    return presentUsage(await this.usages.read(caller.projectId, window));
  }

  private present(project: Project): ProjectType {
    return presentProject(project, this.addresses.ofProject(project.slug));
  }
}
