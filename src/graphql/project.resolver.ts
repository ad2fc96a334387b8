import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { keyActor } from '../audit/audit-log.js';
import { requireScope } from '../caller.js';
import type { Project } from '../projects/project.entity.js';
import type { ProjectService } from '../projects/project.service.js';
import type { Context } from './context.js';
import { ProjectType, presentProject } from './project.type.js';

@Resolver(() => ProjectType)
export class ProjectResolver {
  constructor(
    private readonly projects: ProjectService,
    private readonly addressOf: (slug: string) => string,
  ) {}

  @Query(() => ProjectType, { description: "The caller's project." })
  async project(@Ctx() { caller }: Context): Promise<ProjectType> {
    return this.present(await this.projects.get(caller.projectId));
  }

  @Mutation(() => ProjectType, {
    description: 'Records a successful deploy of the project, now. Needs the scope `domains`.',
  })
  async publishProject(@Ctx() { caller, requestId }: Context): Promise<ProjectType> {
    requireScope(caller, 'domains');
    const project = await this.projects.publish(keyActor(caller, requestId), caller.projectId);
    return this.present(project);
  }

  private present(project: Project): ProjectType {
    return presentProject(project, this.addressOf(project.slug));
  }
}
