import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Ctx,
  Directive,
  Field,
  FieldResolver,
  Info,
  Int,
  Mutation,
  Query,
  Resolver,
} from 'type-graphql';
import type { ServiceCall } from '../../../ground/kernel/caller.js';
import type { Plan } from '../../../tenants/projects/plans.js';
import type { Project } from '../../../tenants/projects/project.entity.js';
import type { ProjectService } from '../../../tenants/projects/project.service.js';
import type { UsageWindow } from '../../../tenants/usage/buckets.js';
import type {
  LabelledReport,
  ProjectUsage,
  UsageDimension,
  UsageQuestion,
} from '../../../tenants/usage/project-usage.js';
import { Batch } from '../execution/batch.js';
import { Call, type Context, originOf, serviceCallOf } from '../execution/context.js';
import { answeredFields } from '../operations/operation-size.js';
import { describedEnum, PlainType, TimeField } from '../operations/type-options.js';
import { UsageDimensionEnum, UsageType, UsageWindowEnum } from './usage.type.js';

const PlanEnum = describedEnum<Plan>(
  'Plan',
  'The plan of a project: its request quota, and whether it has custom domains.',
  {
    FREE: '60 requests a minute, 1,000 a day.',
    PRO: '300 requests a minute, 10,000 a day; custom domains.',
    BUSINESS: '1,000 requests a minute, 100,000 a day; custom domains.',
    ENTERPRISE: 'Quotas agreed individually; custom domains.',
  },
);

@PlainType('Project', 'The tenant that owns {{nouns}}, API keys and domains.')
export class ProjectType {
  @Field(() => String, { description: 'Its short name, unique on this platform.' })
  slug!: string;

  @Field(() => String, { description: 'The display name.' })
  name!: string;

  @Field(() => PlanEnum, { description: 'Its plan.' })
  plan!: Plan;

  @TimeField('The last successful deploy; null = never.', { nullable: true })
  publishedAtMs!: number | null;

  @Field(() => String, { description: 'Its generated URL.' })
  url!: string;
}

interface ProjectAddresses {
  /** Without a trailing slash and without `/v1`. */
  base: () => string;
  /** The host that custom domains point to; null = the operator has not set it. */
  domainTarget: string | null;
  ofProject: (slug: string) => string;
  /** Null = the project has no primary domain, or it is not served. */
  ofPrimary: (projectId: bigint) => string | null;
}

@Resolver(() => ProjectType)
export class ProjectResolver {
  private readonly own = new Batch<null, ProjectType>(async (context) => [
    this.present(await this.projects.getOwn(serviceCallOf(context))),
  ]);
  private readonly reports = new Batch<UsageQuestion, LabelledReport>((context, questions) =>
    this.usages.read(serviceCallOf(context), questions),
  );

  constructor(
    private readonly projects: ProjectService,
    private readonly usages: ProjectUsage,
    private readonly addresses: ProjectAddresses,
  ) {}

  @Query(() => ProjectType, { description: "The caller's project." })
  project(@Ctx() context: Context): Promise<ProjectType> {
    return this.own.join(context, null);
  }

  @Mutation(() => ProjectType, {
    description: 'Records a successful deploy of the project, now. Needs the scope `domains`.',
  })
  async publishProject(@Call() call: ServiceCall): Promise<ProjectType> {
    return this.present(await this.projects.publishOwn(call));
  }

  // A leaked key must not push the other acts out of the audit log.
  @Directive('@rateLimit(max: 100, perKey: true, window: "1d")')
  @Mutation(() => ProjectType, {
    description:
      'Adds an import, which the client has done with its own requests, to `auditEvents`, as the dashboard does after its imports. The numbers are what the client says. An `Idempotency-Key` header adds it once. Needs the scope to change the resource, such as `{{items}}:write`.',
  })
  async recordImport(
    @Call() call: ServiceCall,
    @Arg('resource', () => String, {
      description: 'The imported resource, in plural, such as `{{items}}`.',
    })
    resource: string,
    @Arg('file', () => String, { description: 'The name of the file: 1 to 255 characters.' }) file: string,
    @Arg('imported', () => Int, { description: 'How many records were created.' }) imported: number,
    @Arg('refused', () => Int, { description: 'How many rows of the file were refused.' }) refused: number,
  ): Promise<ProjectType> {
    return this.present(await this.projects.recordImport(call, { resource, file, imported, refused }));
  }

  @FieldResolver(() => Boolean, {
    description: 'Whether changes of {{nouns}} are logged, so that clients can follow them.',
  })
  changes(@Ctx() { caller }: Context): boolean {
    return caller.changesSinceMs !== null;
  }

  @FieldResolver(() => String, { description: 'The base URL of its REST API, ending in `/v1`.' })
  apiUrl(@Ctx() context: Context): string {
    return `${originOf(context) ?? this.addresses.base()}/v1`;
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: 'The URL of its primary domain; null = it has none, or the domain is not served.',
  })
  primaryUrl(@Ctx() { caller }: Context): string | null {
    return this.addresses.ofPrimary(caller.projectId);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description:
      'The host that its custom domains point to, for example by CNAME; null = the gateway has no public host name, so no custom domain can work.',
  })
  domainTarget(): string | null {
    return this.addresses.domainTarget;
  }

  @FieldResolver(() => String, { description: 'The URL of its GraphQL API.' })
  graphqlUrl(@Ctx() context: Context): string {
    return `${originOf(context) ?? this.addresses.base()}/graphql`;
  }

  /** A statement for each window, and a statement for the names of keys. */
  @FieldResolver(() => UsageType, {
    description:
      'The number of requests by its keys, across all processes; those of the last seconds may be missing.',
  })
  async usage(
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
    @Arg('window', () => UsageWindowEnum, {
      description: 'The time range, such as `DAY` for the last 24 hours by hour.',
    })
    window: UsageWindow,
    @Arg('by', () => UsageDimensionEnum, {
      nullable: true,
      defaultValue: 'DOOR',
      description:
        'The dimension of `series`, such as `KEY` for a series of each API key. The other fields do not depend on it.',
    })
    by: UsageDimension | null,
    @Arg('dashboards', () => Boolean, {
      nullable: true,
      defaultValue: true,
      description:
        'Whether reads of dashboards count, for example `false`: an open dashboard reads the usage every ten seconds. A read is one if it spends nothing of the plan, goes well, and has the header `Apollographql-Client-Name: dashboard`.',
    })
    dashboards: boolean | null,
  ): Promise<UsageType> {
    const question = {
      window,
      by: by ?? 'DOOR',
      dashboards: dashboards ?? true,
      parts: answeredFields(info),
    };
    this.usages.requireAllowed(serviceCallOf(context), question);
    const report = await this.reports.join(context, question);
    if (question.by !== 'DOOR') return report;
    const ofEnum = (name: string) => name.toUpperCase();
    const series = report.series.map((one) => ({ ...one, name: ofEnum(one.name), label: ofEnum(one.label) }));
    return { ...report, series };
  }

  private present(project: Project): ProjectType {
    return { ...project, url: this.addresses.ofProject(project.slug) };
  }
}
