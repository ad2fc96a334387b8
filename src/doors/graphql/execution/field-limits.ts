import { getDirective, MapperKind, mapSchema } from '@graphql-tools/utils';
import {
  defaultFieldResolver,
  type GraphQLFieldConfig,
  type GraphQLFieldResolver,
  type GraphQLSchema,
} from 'graphql';
import type { Identity, Store } from 'graphql-rate-limit';
import type { Quota } from '../../../ground/kernel/caller.js';
import { durationInWords } from '../../../ground/kernel/duration.js';
import { AppError } from '../../../ground/kernel/errors.js';
import type { Decision, Limiter } from '../../../request/rate-limit/rules/limiter.js';
import { fieldSubject } from '../../../request/rate-limit/rules/subjects.js';
import type { WindowStanding } from '../../../request/rate-limit/rules/windows.js';
import { Batch } from './batch.js';
import type { Context } from './context.js';

const NAME = 'rateLimit';
/** The supported windows. */
const WINDOWS = { '1m': 'minute', '1d': 'day' } as const;

/** The limit of a field per UTC minute or day. D-34. */
interface LimitedField {
  /** `Type.field`. */
  readonly field: string;
  readonly max: number;
  /** Counted per API key; otherwise per project. D-30. */
  readonly isOfKey: boolean;
  readonly window: (typeof WINDOWS)[keyof typeof WINDOWS];
  readonly quota: Quota;
}

/** The limit of a field; null = none. Throws for arguments that would not limit anything. */
function limitOf(
  schema: GraphQLSchema,
  config: GraphQLFieldConfig<unknown, unknown>,
  field: string,
): LimitedField | null {
  const [directive] = getDirective(schema, config, NAME) ?? [];
  if (!directive) return null;
  const { max, perKey, window: given }: Record<string, unknown> = directive;
  const window = Object.entries(WINDOWS).find(([known]) => known === given)?.[1];
  if (!window || typeof max !== 'number' || !Number.isInteger(max) || max < 1) {
    throw new Error(`@${NAME} on ${field}: a limit is at least 1 per 1m or 1d, not ${max} per ${given}.`);
  }
  const quota = { perMinute: max, perDay: window === 'day' ? max : null };
  return { field, max, isOfKey: perKey === true, window, quota };
}

export interface FieldStanding extends Pick<LimitedField, 'field' | 'window'> {
  readonly standing: WindowStanding;
}

/** The limits of fields with `@rateLimit`, on the counters of the plan's quota. */
export class FieldLimits {
  private readonly fields: LimitedField[] = [];
  private readonly standings = new Batch<null, FieldStanding[]>(async (context) => {
    const sorted = this.fields.toSorted((a, b) => (a.field < b.field ? -1 : 1));
    return [await Promise.all(sorted.map((limited) => this.standingOf(limited, context)))];
  });

  constructor(private readonly limiter: Limiter) {}

  /**
   * Enforces the directive on every field that has it, and adds the limit to the field's description, because
   * introspection shows no directives. Throws at start for arguments that would not limit anything.
   */
  enforce(schema: GraphQLSchema): GraphQLSchema {
    return mapSchema(schema, {
      [MapperKind.OBJECT_FIELD]: (config, fieldName, typeName) => {
        const limited = limitOf(schema, config, `${typeName}.${fieldName}`);
        if (!limited) return undefined;
        this.fields.push(limited);
        const { max, window, isOfKey } = limited;
        const limitText = `At most ${max} a ${window} for each ${isOfKey ? 'API key' : 'project'}.`;
        const resolve = this.limited(limited, config.resolve ?? defaultFieldResolver);
        return { ...config, resolve, description: `${config.description ?? ''} ${limitText}`.trim() };
      },
    });
  }

  /** The remaining uses of each field, sorted by name. Spends nothing; the aliases of an operation ask once. */
  standing(context: Context): Promise<FieldStanding[]> {
    return this.standings.join(context, null);
  }

  private async standingOf(limited: LimitedField, context: Context): Promise<FieldStanding> {
    const { field, window, quota } = limited;
    const subject = fieldSubject(ownerOf(limited, context), field);
    const { minute, day } = await this.limiter.peek({ subject, keyId: null, quota });
    return { field, window, standing: day ?? minute };
  }

  private limited(
    limited: LimitedField,
    resolve: GraphQLFieldResolver<unknown, Context>,
  ): GraphQLFieldResolver<unknown, Context> {
    const { field, max, window, quota } = limited;
    return async (parent, args, context, info) => {
      // Loading it with its dependencies takes 60 ms, which a process that only reads can save.
      const { getGraphQLRateLimiter } = await import('graphql-rate-limit');
      const store = new CountingStore(this.limiter, quota);
      const limit = getGraphQLRateLimiter({ identifyContext: () => ownerOf(limited, context), store });
      // The library counts by field name alone: Query.name and Key.name would share a counter.
      const named = { ...info, fieldName: field };
      const options = { max, window: window === 'day' ? '1d' : '1m' };
      const message = await limit({ parent, args, context, info: named }, options);
      if (message !== undefined) throw refusal(limited, store.decision);
      return resolve(parent, args, context, info);
    };
  }
}

/**
 * The library reads the uses so far, compares, and stores them with the new one; other requests can do the same in
 * between. Here the read already counts, in the limiter's atomic step, and the store step does nothing.
 */
class CountingStore implements Store {
  decision: Decision | null = null;

  constructor(
    private readonly limiter: Limiter,
    private readonly quota: Quota,
  ) {}

  async getForIdentity({ contextIdentity, fieldIdentity }: Identity): Promise<number[]> {
    const subject = fieldSubject(contextIdentity, fieldIdentity);
    const charge = { subject, keyId: null, quota: this.quota, cost: 1, connection: null };
    this.decision = await this.limiter.charge(charge);
    const { limit, remaining } = this.decision.day ?? this.decision.minute;
    const others = this.decision.admitted ? limit - remaining - 1 : limit;
    // Timestamps that never leave the library's window: the limiter decides the windows.
    return new Array<number>(others).fill(Number.POSITIVE_INFINITY);
  }

  setForIdentity(): void {}
}

function ownerOf({ isOfKey }: LimitedField, { caller }: Context): string {
  return String(isOfKey ? caller.keyId : caller.projectId);
}

function refusal({ field, max, window, isOfKey }: LimitedField, decision: Decision | null): AppError {
  if (decision === null || decision.admitted)
    throw new Error('a field was refused that the limiter admitted');
  const { retryAfterSeconds } = decision;
  const owner = isOfKey ? 'an API key' : 'a project';
  const message = `${field} may be used ${max} times a ${window} (UTC) by ${owner}. Try again in ${durationInWords(retryAfterSeconds)}.`;
  return new AppError('field_rate_limited', message, { retryAfterSeconds, limit: max });
}
