import { Ctx, FieldResolver, Query, Resolver } from 'type-graphql';
import type { Context } from '../execution/context.js';
import type { FieldLimits } from '../limits/field-limits.js';
import { Entries } from '../operations/entries.js';
import { FieldRateLimitType, presentField, presentRateLimit, RateLimitType } from './rate-limit.type.js';

/** Fields of the schema with `@rateLimit`. */
const MAX_LIMITED_FIELDS = 16;

@Resolver(() => RateLimitType)
export class RateLimitResolver {
  constructor(private readonly limits: FieldLimits) {}

  @Query(() => RateLimitType, {
    description: 'The remaining quota after this request. `GET /v1/rate_limit` returns it for free.',
  })
  rateLimit(@Ctx() context: Context): RateLimitType {
    const standing = context.standing();
    if (!standing) throw new Error('the operation was not charged');
    return presentRateLimit(standing);
  }

  @Entries(MAX_LIMITED_FIELDS)
  @FieldResolver(() => [FieldRateLimitType], {
    description: 'The remaining uses of fields with their own limit. Reading them spends none.',
  })
  async fields(@Ctx() context: Context): Promise<FieldRateLimitType[]> {
    return (await this.limits.standing(context)).map(presentField);
  }
}
