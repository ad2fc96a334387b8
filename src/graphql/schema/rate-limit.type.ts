import { GraphQLDateTime } from 'graphql-scalars';
import { Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import { isManagement } from '../../admission/cost.js';
import type { BanStatus } from '../../rate-limit/rules/bans.js';
import type { Standing } from '../../rate-limit/rules/decision.js';
import type { WindowStanding } from '../../rate-limit/rules/windows.js';
import { PLAIN } from '../execution/plain.js';
import type { FieldStanding } from '../limits/field-limits.js';

@ObjectType('RateLimitWindow', { description: 'The limit of a window, and what is left of it.', ...PLAIN })
export class RateLimitWindowType {
  @Field(() => Int, { description: 'Units allowed in the window.' })
  limit!: number;

  @Field(() => Int, { description: 'Units left in the window.' })
  remaining!: number;

  @Field(() => GraphQLDateTime, { description: 'When the next window begins.' })
  resetAt!: Date;
}

@ObjectType('Ban', { description: 'The strikes and the ban of an API key.', ...PLAIN })
export class BanType {
  @Field(() => Int, {
    description: 'Requests made after a 429 and before its Retry-After; the tenth bans the key.',
  })
  strikes!: number;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'When the ban ends; null = not banned.' })
  until!: Date | null;

  @Field(() => Int, { description: 'Length of the next ban.' })
  nextStepMinutes!: number;
}

@ObjectType('RateLimit', {
  description: "Both windows of the project's quota and the ban state of the API key.",
  ...PLAIN,
})
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
      'The UTC minute of the API key for everything except pets; null if a request is only about pets.',
  })
  management!: RateLimitWindowType | null;
}

const FieldWindowEnum = { MINUTE: 'minute', DAY: 'day' } as const;
registerEnumType(FieldWindowEnum, {
  name: 'FieldRateLimitWindow',
  description: 'The window in which the uses of a field are counted.',
  valuesConfig: { MINUTE: { description: 'The UTC minute.' }, DAY: { description: 'The UTC day.' } },
});

@ObjectType('FieldRateLimit', {
  description: 'The limit of a field with `@rateLimit`, and what is left of it.',
  ...PLAIN,
})
export class FieldRateLimitType extends RateLimitWindowType {
  @Field(() => String, { description: 'Its type and name, such as `Mutation.createPet`.' })
  field!: string;

  @Field(() => FieldWindowEnum, { description: 'The window in which its uses are counted.' })
  window!: FieldStanding['window'];
}

export function presentField({ field, window, standing }: FieldStanding): FieldRateLimitType {
  return { field, window, ...presentWindow(standing) };
}

export function presentRateLimit({ minute, day, ban, allowance }: Standing): RateLimitType {
  return {
    minute: presentWindow(minute),
    day: day && presentWindow(day),
    ban: ban && presentBan(ban),
    management: allowance && isManagement(allowance.name) ? presentWindow(allowance) : null,
  };
}

function presentWindow({ limit, remaining, resetAtSeconds }: WindowStanding): RateLimitWindowType {
  return { limit, remaining, resetAt: new Date(resetAtSeconds * 1000) };
}

function presentBan({ strikes, untilSeconds, nextStepMinutes }: BanStatus): BanType {
  return { strikes, until: untilSeconds === null ? null : new Date(untilSeconds * 1000), nextStepMinutes };
}
