import { Field, Float, Int } from 'type-graphql';
import { MAX_USAGE_POINTS, type UsageWindow } from '../../../tenants/usage/buckets.js';
import type { UsageDimension } from '../../../tenants/usage/project-usage.js';
import { MAX_NAMES } from '../../../tenants/usage/usage-rows.js';
import { describedEnum, Entries, PlainType, TimeField } from '../operations/type-options.js';

/** Most projects have fewer keys and operations. */
const USUAL_SERIES = 8;

export const UsageWindowEnum = describedEnum<UsageWindow>(
  'UsageWindow',
  'A time range that ends now, and the length of its points.',
  {
    HOUR: 'The last 60 UTC minutes, this one included, by minute.',
    DAY: 'The last 24 UTC hours, this one included, by hour.',
    MONTH: 'The last 30 UTC days, this one included, by day.',
  },
);

export const UsageDimensionEnum = describedEnum<UsageDimension>(
  'UsageDimension',
  'The series of a usage: each request counts in exactly one of them.',
  {
    DOOR: '`GRAPHQL` for `/graphql`, `REST` for `/v1`.',
    KEY: 'The id of the API key, with its name as label, also after it was revoked. Needs the scope `keys`.',
    OPERATION: `At \`/v1\` the operation of the OpenAPI document, such as \`{{listOperation}}\`. At \`/graphql\` the name of the operation, otherwise its root fields in alphabetical order, such as \`{{items}},project\`; at most 100 characters. Requests without any are \`other\`: unknown paths, and documents that were not read. So are all operations beyond the first ${MAX_NAMES} of a UTC day.`,
    STATUS: 'The HTTP status of the answer, such as `404`. GraphQL errors often have `200`.',
  },
);

@PlainType(
  'UsageCount',
  'Numbers of requests with a valid key. All of them: `admitted` and `refused` together.',
)
export class UsageCountType {
  @Field(() => Int, { description: 'Requests within the limits, answered with or without an error.' })
  admitted!: number;

  @Field(() => Int, {
    description: 'Requests refused by a quota, an allowance, a ban or the limit of a field.',
  })
  refused!: number;

  @Field(() => Int, {
    description:
      'The admitted requests that were answered with an error: a status of 400 or more, or GraphQL `errors` with status 200.',
  })
  failed!: number;

  @Field(() => Int, {
    description:
      "The units of the plan's quota that they spent: one for each request at `/v1`, and one for each root field about {{nouns}} at `/graphql`.",
  })
  units!: number;
}

@PlainType('UsagePoint', 'The requests of a UTC minute, hour or day.')
export class UsagePointType {
  @TimeField('When the minute, hour or day begins, such as `2026-05-01T10:00:00.000Z`.')
  atMs!: number;

  @Field(() => UsageCountType, { description: 'At `/graphql`; a request counts once, whatever it costs.' })
  graphql!: UsageCountType;

  @Field(() => UsageCountType, { description: 'At `/v1`, unknown paths included.' })
  rest!: UsageCountType;

  @Field(() => UsageCountType, {
    description:
      'The requests at `/graphql` that spend nothing of the plan: everything except {{nouns}}, and reading the schema.',
  })
  management!: UsageCountType;
}

@PlainType(
  'UsageSeries',
  'The requests of one key, operation, API or status, for example of the operation `{{listOperation}}`.',
)
export class UsageSeriesType {
  @Field(() => String, {
    description:
      'By API `GRAPHQL` or `REST`, by key its id, by operation its name, by status the number. `other` stands for all that are not listed by name.',
  })
  name!: string;

  @Field(() => String, {
    description: 'The name for people: of a key its name, otherwise the same as `name`.',
  })
  label!: string;

  @Field(() => UsageCountType, { description: 'The sum of `counts`.' })
  total!: UsageCountType;

  @Entries(MAX_USAGE_POINTS)
  @Field(() => [UsageCountType], { description: 'The counts of each entry of `points`, in the same order.' })
  counts!: UsageCountType[];
}

@PlainType(
  'UsageLatency',
  'How long the gateway took to answer the admitted requests. Durations are counted in steps of 19 %, so a value is within 10 % of the exact one, from 0.1 ms to 5.5 s.',
)
export class UsageLatencyType {
  @Field(() => Float, {
    nullable: true,
    description:
      'Half of the requests took no longer, such as `3.25`, in milliseconds; null without requests.',
  })
  p50Ms!: number | null;

  @Field(() => Float, {
    nullable: true,
    description: '95 of 100 requests took no longer, in milliseconds; null without requests.',
  })
  p95Ms!: number | null;
}

@PlainType('Usage', 'The number of requests by the keys of a project.')
export class UsageType {
  @Entries(MAX_USAGE_POINTS)
  @Field(() => [UsagePointType], {
    description:
      'Every minute, hour or day of the window, oldest first, including those without requests, for plots by API.',
  })
  points!: UsagePointType[];

  @Entries(USUAL_SERIES, MAX_NAMES + 1)
  @Field(() => [UsageSeriesType], {
    description: `The same requests by the dimension \`by\`, those with most requests first. At most ${MAX_NAMES}, and \`other\`, which comes last; without requests there is no series.`,
  })
  series!: UsageSeriesType[];

  @Field(() => UsageCountType, {
    description: 'All requests of the window: the sum of the series of any dimension.',
  })
  total!: UsageCountType;

  @Field(() => UsageLatencyType, {
    description: 'The response times of the admitted requests in the window, over all series.',
  })
  latency!: UsageLatencyType;
}
