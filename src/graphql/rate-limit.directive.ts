import { getDirective } from '@graphql-tools/utils';
import {
  DirectiveLocation,
  GraphQLBoolean,
  GraphQLDirective,
  type GraphQLFieldConfig,
  GraphQLInt,
  GraphQLNonNull,
  type GraphQLSchema,
  GraphQLString,
} from 'graphql';

const NAME = 'rateLimit';
/** The windows that are counted. */
const WINDOWS = { '1m': 'minute', '1d': 'day' } as const;

/** What a field allows for each UTC minute or day. */
export interface FieldRule {
  max: number;
  /** Counted for the API key; otherwise for its project. */
  isOfKey: boolean;
  window: (typeof WINDOWS)[keyof typeof WINDOWS];
}

export const RATE_LIMIT_DIRECTIVE = new GraphQLDirective({
  name: NAME,
  description: 'How often a project may use the field, beside the quota of its plan.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    max: { type: new GraphQLNonNull(GraphQLInt), description: 'Uses in a window.' },
    perKey: {
      type: GraphQLBoolean,
      defaultValue: false,
      description: 'Each API key may use it as often, so that a leaked one keeps no other from it.',
    },
    window: {
      type: new GraphQLNonNull(GraphQLString),
      description: 'The UTC minute, `1m`, or the UTC day, `1d`.',
    },
  },
});

/** The rule of a field; null = it has none. Throws for arguments that would limit nothing. */
export function ruleOf(
  schema: GraphQLSchema,
  config: GraphQLFieldConfig<unknown, unknown>,
  field: string,
): FieldRule | null {
  const [directive] = getDirective(schema, config, NAME) ?? [];
  if (!directive) return null;
  const { max, perKey, window }: Record<string, unknown> = directive;
  if (!Number.isInteger(max) || Number(max) < 1) {
    throw new Error(`@${NAME} on ${field}: max must be a whole number of at least 1, not ${max}.`);
  }
  const name = Object.entries(WINDOWS).find(([known]) => known === window)?.[1];
  if (!name) {
    throw new Error(
      `@${NAME} on ${field}: window must be ${Object.keys(WINDOWS).join(' or ')}, not ${window}.`,
    );
  }
  return { max: Number(max), isOfKey: perKey === true, window: name };
}
