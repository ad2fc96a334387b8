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
/** The supported windows. */
const WINDOWS = { '1m': 'minute', '1d': 'day' } as const;

/** The limit of a field per UTC minute or day. */
export interface FieldRule {
  max: number;
  /** Counted per API key; otherwise per project. */
  isOfKey: boolean;
  window: (typeof WINDOWS)[keyof typeof WINDOWS];
}

export const RATE_LIMIT_DIRECTIVE = new GraphQLDirective({
  name: NAME,
  description: 'How often a project may use the field, in addition to the quota of its plan.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    max: { type: new GraphQLNonNull(GraphQLInt), description: 'Uses per window.' },
    perKey: {
      type: GraphQLBoolean,
      defaultValue: false,
      description: 'Whether each API key has its own count, so that a leaked key does not block the others.',
    },
    window: {
      type: new GraphQLNonNull(GraphQLString),
      description: 'The UTC minute, `1m`, or the UTC day, `1d`.',
    },
  },
});

/** The rule of a field; null = none. Throws for arguments that would not limit anything. */
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
