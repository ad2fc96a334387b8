import { getDirective, MapperKind, mapSchema } from '@graphql-tools/utils';
import {
  DirectiveLocation,
  defaultFieldResolver,
  GraphQLDirective,
  type GraphQLFieldResolver,
  GraphQLInt,
  GraphQLNonNull,
  type GraphQLSchema,
  GraphQLString,
} from 'graphql';
import type { Identity, Store } from 'graphql-rate-limit';
import { AppError } from '../errors.js';
import type { Decision } from '../rate-limit/decision.js';
import type { Limiter } from '../rate-limit/limiter.js';
import { fieldSubject } from '../rate-limit/subjects.js';
import type { Quota } from '../rate-limit/windows.js';
import type { Context } from './context.js';

const NAME = 'rateLimit';
/** The windows that are counted, with what people call them. */
const WINDOWS = { '1m': 'minute', '1d': 'day' } as const;
type WindowName = keyof typeof WINDOWS;

interface FieldLimit {
  max: number;
  window: WindowName;
}

export const RATE_LIMIT_DIRECTIVE = new GraphQLDirective({
  name: NAME,
  description: 'How often a project may use the field, beside the quota of its plan.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    max: { type: new GraphQLNonNull(GraphQLInt), description: 'Uses in a window.' },
    window: {
      type: new GraphQLNonNull(GraphQLString),
      description: 'The UTC minute, `1m`, or the UTC day, `1d`.',
    },
  },
});

/**
 * Enforces `@rateLimit` on every field that has it, and says so in the field's description, as directives do not reach
 * introspection. Throws at start for arguments that would limit nothing.
 */
export function limitFields(schema: GraphQLSchema, limiter: Limiter): GraphQLSchema {
  return mapSchema(schema, {
    [MapperKind.OBJECT_FIELD]: (config, fieldName, typeName) => {
      const [directive] = getDirective(schema, config, NAME) ?? [];
      if (!directive) return undefined;
      const field = `${typeName}.${fieldName}`;
      const limit = checked(field, directive);
      const rule = `At most ${limit.max} a ${WINDOWS[limit.window]} for each project.`;
      const resolve = limited(field, limit, limiter, config.resolve ?? defaultFieldResolver);
      return { ...config, resolve, description: `${config.description ?? ''} ${rule}`.trim() };
    },
  });
}

function limited(
  field: string,
  { max, window }: FieldLimit,
  limiter: Limiter,
  resolve: GraphQLFieldResolver<unknown, Context>,
): GraphQLFieldResolver<unknown, Context> {
  const quota = { perMinute: max, perDay: window === '1d' ? max : null };
  return async (parent, args, context, info) => {
    // With what it depends on it takes 60 ms: a process that only reads need not load it.
    const { getGraphQLRateLimiter } = await import('graphql-rate-limit');
    const store = new CountingStore(limiter, quota);
    const limit = getGraphQLRateLimiter({ identifyContext: projectOf, store });
    // The library counts by field name alone: Query.name and Pet.name would share a counter.
    const named = { ...info, fieldName: field };
    const message = await limit({ parent, args, context, info: named }, { max, window });
    if (message !== undefined) throw refusal(field, max, store.decision);
    return resolve(parent, args, context, info);
  };
}

/**
 * The library asks for the uses so far, compares, and stores them with the new one: between the two, any number of others
 * do the same. Here asking already counts, in the limiter's one atomic step, and storing has nothing left to do.
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
    // Timestamps that never leave the library's window: the windows are ours.
    return new Array<number>(others).fill(Number.POSITIVE_INFINITY);
  }

  setForIdentity(): void {}
}

function projectOf({ caller }: Context): string {
  return String(caller.projectId);
}

function refusal(field: string, max: number, decision: Decision | null): AppError {
  if (decision === null || decision.admitted)
    throw new Error('a field was refused that the limiter admitted');
  const { code, retryAfterSeconds } = decision;
  const window = code === 'rate_limited_day' ? 'day' : 'minute';
  const message = `${field} may be used ${max} times a ${window} (UTC). Try again in ${retryAfterSeconds} s.`;
  return new AppError(code, message, { retryAfterSeconds, limit: max });
}

function checked(field: string, { max, window }: Record<string, unknown>): FieldLimit {
  if (!Number.isInteger(max) || Number(max) < 1) {
    throw new Error(`@${NAME} on ${field}: max must be a whole number of at least 1, not ${max}.`);
  }
  const name = (Object.keys(WINDOWS) as WindowName[]).find((known) => known === window);
  if (!name) {
    throw new Error(
      `@${NAME} on ${field}: window must be ${Object.keys(WINDOWS).join(' or ')}, not ${window}.`,
    );
  }
  return { max: Number(max), window: name };
}
