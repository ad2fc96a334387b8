import { Ctx, FieldResolver, Query, Resolver } from 'type-graphql';
import type { Context } from './context.js';
import { Entries } from './entries.js';
import type { FieldLimits } from './field-limits.js';
import { FieldRateLimitType, presentField, presentRateLimit, RateLimitType } from './rate-limit.type.js';
import { Statements } from './statements.js';

/** Fields of the schema with `@rateLimit`. */
const MAX_LIMITED_FIELDS = 12;

@Resolver(() => RateLimitType)
export class RateLimitResolver {
  constructor(private readonly limits: FieldLimits) {}

  @Statements(0)
  @Query(() => RateLimitType, {
    description: 'What is left of the quota after this request. `GET /v1/rate_limit` tells it for free.',
  })
  rateLimit(@Ctx() context: Context): RateLimitType {
    const standing = context.standing();
    if (!standing) throw new Error('the operation was not charged');
    return presentRateLimit(standing);
  }

  @Entries(MAX_LIMITED_FIELDS)
  @FieldResolver(() => [FieldRateLimitType], {
    description:
      'What is left of the limits that fields have of their own. Reading it spends nothing of them.',
  })
  async fields(@Ctx() context: Context): Promise<FieldRateLimitType[]> {
    return (await this.limits.standing(context)).map(presentField);
  }
}
