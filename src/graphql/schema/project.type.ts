import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ObjectType, registerEnumType } from 'type-graphql';
import { PLAN_NAMES, type Plan } from '../../projects/plans.js';
import type { Project } from '../../projects/project.entity.js';
import { PLAIN } from '../execution/plain.js';

const PlanEnum = Object.fromEntries(PLAN_NAMES.map((plan) => [plan, plan]));

registerEnumType(PlanEnum, {
  name: 'Plan',
  description: 'The plan of a project: its request quota, and whether it has custom domains.',
  valuesConfig: {
    FREE: { description: '60 requests a minute, 1,000 a day.' },
    PRO: { description: '300 requests a minute, 10,000 a day; custom domains.' },
    BUSINESS: { description: '1,000 requests a minute, 100,000 a day; custom domains.' },
    ENTERPRISE: { description: 'Quotas agreed individually; custom domains.' },
  },
});

@ObjectType('Project', { description: 'The tenant that owns pets, API keys and domains.', ...PLAIN })
export class ProjectType {
  @Field(() => String, { description: 'Its short name, unique on this platform.' })
  slug!: string;

  @Field(() => String, { description: 'The display name.' })
  name!: string;

  @Field(() => PlanEnum, { description: 'Its plan.' })
  plan!: Plan;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'The last successful deploy; null = never.' })
  publishedAt!: Date | null;

  @Field(() => String, { description: 'Its generated URL.' })
  url!: string;
}

export function presentProject(project: Project, url: string): ProjectType {
  return {
    slug: project.slug,
    name: project.name,
    plan: project.plan,
    publishedAt: project.publishedAtMs === null ? null : new Date(project.publishedAtMs),
    url,
  };
}
