import { GraphQLDateTime } from 'graphql-scalars';
import { Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import { MAX_USAGE_POINTS, USAGE_WINDOWS } from '../usage/buckets.js';
import type { UsagePoint } from '../usage/usage.service.js';
import type { Outcomes } from '../usage/usage-counters.js';
import { Entries } from './entries.js';
import { PLAIN } from './plain.js';

const INT_MAX = 2 ** 31 - 1;

export const UsageWindowEnum = Object.fromEntries(Object.keys(USAGE_WINDOWS).map((name) => [name, name]));

registerEnumType(UsageWindowEnum, {
  name: 'UsageWindow',
  description: 'Which time to look at, and how finely.',
  valuesConfig: {
    HOUR: { description: 'The last 60 UTC minutes, this one included, by minute.' },
    MONTH: { description: 'The last 30 UTC days, this one included, by day.' },
  },
});

@ObjectType('UsageCount', { description: 'Requests with a valid key at one door.', ...PLAIN })
export class UsageCountType {
  @Field(() => Int, { description: 'Those that were within the limits.' })
  admitted!: number;

  @Field(() => Int, { description: 'Those that were answered with 429.' })
  refused!: number;
}

@ObjectType('UsagePoint', { description: 'What was asked for in one UTC minute or day.', ...PLAIN })
export class UsagePointType {
  @Field(() => GraphQLDateTime, { description: 'When the minute or day begins.' })
  at!: Date;

  @Field(() => UsageCountType, { description: 'At `/graphql`; a request counts once, whatever it costs.' })
  graphql!: UsageCountType;

  @Field(() => UsageCountType, { description: 'At `/v1`.' })
  rest!: UsageCountType;

  @Field(() => UsageCountType, {
    description:
      'Of those at `/graphql`, the ones that spend nothing of the plan: everything but pets, and reading the schema.',
  })
  management!: UsageCountType;
}

@ObjectType('Usage', { description: 'How many requests the keys of a project made.', ...PLAIN })
export class UsageType {
  @Entries(MAX_USAGE_POINTS)
  @Field(() => [UsagePointType], {
    description: 'Every minute or day of the window, oldest first, also those in which nothing was asked.',
  })
  points!: UsagePointType[];
}

export function presentUsage(points: readonly UsagePoint[]): UsageType {
  return {
    points: points.map(({ atMs, graphql, rest, manage }) => ({
      at: new Date(atMs),
      graphql: presentCount(graphql),
      rest: presentCount(rest),
      management: presentCount(manage),
    })),
  };
}

function presentCount({ admitted, refused }: Outcomes): UsageCountType {
  return { admitted: Math.min(admitted, INT_MAX), refused: Math.min(refused, INT_MAX) };
}
