import { Ctx, Query, Resolver } from 'type-graphql';
import type { Context } from './context.js';
import { presentRateLimit, RateLimitType } from './rate-limit.type.js';

@Resolver(() => RateLimitType)
export class RateLimitResolver {
  @Query(() => RateLimitType, {
    description: 'What is left of the quota after this request. `GET /v1/rate_limit` tells it for free.',
  })
  rateLimit(@Ctx() context: Context): RateLimitType {
    const standing = context.standing();
    if (!standing) throw new Error('the operation was not charged');
    return presentRateLimit(standing);
  }
}
