import type { GraphQLResolveInfo } from 'graphql';
import { Ctx, Info, Mutation, Query, Resolver } from 'type-graphql';
import { keyActor } from '../audit/audit-log.js';
import { requireScope } from '../caller.js';
import type { IdempotencyService } from '../idempotency/idempotency.service.js';
import type { Project } from '../projects/project.entity.js';
import type { ProjectService } from '../projects/project.service.js';
import { type Context, idempotencyKeyOf } from './context.js';
import { PROJECT_JSON, ProjectType, presentProject } from './project.type.js';

@Resolver(() => ProjectType)
export class ProjectResolver {
  constructor(
    private readonly projects: ProjectService,
    private readonly idempotency: IdempotencyService,
    private readonly addressOf: (slug: string) => string,
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

  private present(project: Project): ProjectType {
    return presentProject(project, this.addressOf(project.slug));
  }
}
