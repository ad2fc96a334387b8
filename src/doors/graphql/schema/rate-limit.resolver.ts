import { Ctx, Field, FieldResolver, Int, Query, Resolver } from 'type-graphql';
import { isManagement } from '../../../request/admission/cost.js';
import type { Standing } from '../../../request/rate-limit/rules/limiter.js';
import type { WindowStanding } from '../../../request/rate-limit/rules/windows.js';
import type { Context } from '../execution/context.js';
import type { FieldLimits, FieldStanding } from '../execution/field-limits.js';
import { DATE_TIME, describedEnum, Entries, inCapitals, PlainType } from '../operations/type-options.js';

@PlainType('RateLimitWindow', 'The limit of a window, and what is left of it.')
export class RateLimitWindowType {
  @Field(() => Int, { description: 'Units allowed in the window.' })
  limit!: number;

  @Field(() => Int, { description: 'Units left in the window.' })
  remaining!: number;

  @Field(() => DATE_TIME, { description: 'When the next window begins.' })
  resetAt!: Date;
}

@PlainType('Ban', 'The strikes and the ban of an API key.')
export class BanType {
  @Field(() => Int, {
    description: 'Requests made after a 429 and before its Retry-After; the tenth bans the key.',
  })
  strikes!: number;

  @Field(() => DATE_TIME, { nullable: true, description: 'When the ban ends; null = not banned.' })
  until!: Date | null;

  @Field(() => Int, { description: 'Length of the next ban.' })
  nextStepMinutes!: number;
}

@PlainType('RateLimit', "Both windows of the project's quota and the ban state of the API key.")
export class RateLimitType {
  @Field(() => RateLimitWindowType, { description: 'The UTC minute.' })
  minute!: RateLimitWindowType;

  @Field(() => RateLimitWindowType, { nullable: true, description: 'The UTC day.' })
  day!: RateLimitWindowType | null;

  @Field(() => BanType, { nullable: true, description: 'The ban state of the API key.' })
  ban!: BanType | null;

  @Field(() => RateLimitWindowType, {
    nullable: true,
    description:
      'The UTC minute of the API key for everything except {{nouns}}; null if a request is only about {{nouns}}.',
  })
  management!: RateLimitWindowType | null;
}

const FieldWindowEnum = describedEnum<FieldStanding['window']>(
  'FieldRateLimitWindow',
  'The window in which the uses of a field are counted.',
  { minute: 'The UTC minute.', day: 'The UTC day.' },
  inCapitals,
);

@PlainType('FieldRateLimit', 'The limit of a field with `@rateLimit`, and what is left of it.')
export class FieldRateLimitType extends RateLimitWindowType {
  @Field(() => String, { description: 'Its type and name, such as `Mutation.create{{Item}}`.' })
  field!: string;

  @Field(() => FieldWindowEnum, { description: 'The window in which its uses are counted.' })
  window!: FieldStanding['window'];
}

export function presentRateLimit({ minute, day, ban, allowance }: Standing): RateLimitType {
  return {
    minute: presentWindow(minute),
    day: day && presentWindow(day),
    ban: ban && { ...ban, until: ban.untilSeconds === null ? null : new Date(ban.untilSeconds * 1000) },
    management: allowance && isManagement(allowance.name) ? presentWindow(allowance) : null,
  };
}

function presentWindow({ limit, remaining, resetAtSeconds }: WindowStanding): RateLimitWindowType {
  return { limit, remaining, resetAt: new Date(resetAtSeconds * 1000) };
}

/** Fields of the schema with `@rateLimit`. */
const MAX_LIMITED_FIELDS = 16;

@Resolver(() => RateLimitType)
export class RateLimitResolver {
  constructor(private readonly limits: FieldLimits) {}

  @Query(() => RateLimitType, {
    description: 'The remaining quota after this request. `GET /v1/rate_limit` returns it for free.',
  })
  rateLimit(@Ctx() context: Context): RateLimitType {
    const { standing } = context.request;
    if (!standing) throw new Error('the operation was not charged');
    return presentRateLimit(standing);
  }

  @Entries(MAX_LIMITED_FIELDS)
  @FieldResolver(() => [FieldRateLimitType], {
    description: 'The remaining uses of fields with their own limit. Reading them spends none.',
  })
  async fields(@Ctx() context: Context): Promise<FieldRateLimitType[]> {
    const fields = await this.limits.standing(context);
    return fields.map(({ field, window, standing }) => ({ field, window, ...presentWindow(standing) }));
  }
}
