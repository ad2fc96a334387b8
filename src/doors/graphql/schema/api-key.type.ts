import { MapperKind, mapSchema } from '@graphql-tools/utils';
import { GraphQLEnumType, type GraphQLSchema } from 'graphql';
import { Field, ID, InputType } from 'type-graphql';
import type { Scope } from '../../../ground/kernel/caller.js';
import { NAME } from '../../../ground/kernel/validation.js';
import { scopesOfNoun } from '../../../noun-words.js';
import type { NounDescription } from '../../../nouns.js';
import { DATE_TIME, describedEnum, inCapitals, PlainType, TimeField } from '../operations/type-options.js';

const SCOPE = 'ApiKeyScope';

/** Of the platform. `withNounScopes` adds those of the nouns. */
const ApiKeyScopeEnum = describedEnum<Scope>(
  SCOPE,
  'A permission of an API key.',
  {
    domains: '`domains`: publish the project, see and change its domains.',
    keys: "`keys`: see, create, roll and revoke the project's API keys.",
  },
  inCapitals,
);

/** The schema with the scopes of the nouns too: gateways in one process share the types of the decorators. */
export function withNounScopes(schema: GraphQLSchema, nouns: readonly NounDescription[]): GraphQLSchema {
  const added = nouns
    .flatMap(scopesOfNoun)
    .map(({ scope, allows }) => ({ value: scope, description: `\`${scope}\`: ${allows}.` }));
  const ofNouns = Object.fromEntries(added.map((scope) => [inCapitals(scope.value), scope]));
  return mapSchema(schema, {
    [MapperKind.ENUM_TYPE]: (type) => {
      if (type.name !== SCOPE) return undefined;
      const { values, ...config } = type.toConfig();
      return new GraphQLEnumType({ ...config, values: { ...values, ...ofNouns } });
    },
  });
}

@PlainType('ApiKey', 'An API key, without its token.')
export class ApiKeyType {
  @Field(() => ID, { description: 'Unique identifier: the digits of a 64-bit integer.' })
  id!: string;

  @Field(() => String, { description: 'The display name.' })
  name!: string;

  @Field(() => String, { description: 'The first characters of the token, for recognition.' })
  prefix!: string;

  @Field(() => [ApiKeyScopeEnum], { description: 'The scopes of the key.' })
  scopes!: Scope[];

  @TimeField('When it was created.')
  createdAtMs!: number;

  @TimeField('When it expires; null = never.', { nullable: true })
  expiresAtMs!: number | null;

  @TimeField('When it was revoked; null = it is not revoked.', { nullable: true })
  revokedAtMs!: number | null;

  @TimeField('When a request last used it, accurate to about a minute; null = never.', { nullable: true })
  lastUsedAtMs!: number | null;

  @Field(() => ID, {
    nullable: true,
    description: 'The key that replaced it when it was rolled; null = it was not rolled.',
  })
  replacedById!: string | null;

  @Field(() => Boolean, { description: 'Whether this request uses it.' })
  isCurrent!: boolean;
}

@PlainType('CreatedApiKey', 'A new API key. Its token is shown only here.')
export class CreatedApiKeyType {
  @Field(() => ApiKeyType, { description: 'The new key.' })
  key!: ApiKeyType;

  @Field(() => String, {
    description: 'The token to send as `Authorization: Bearer <token>`. Shown only once, and stored nowhere.',
  })
  token!: string;
}

@InputType('NewApiKey', { description: 'An API key to create.' })
export class NewApiKeyInput {
  @Field(() => String, { description: `The display name: 1 to ${NAME.maxLength} characters.` })
  name!: string;

  @Field(() => [ApiKeyScopeEnum], {
    description: 'At least one scope, and only scopes that the key of this request has.',
  })
  scopes!: Scope[];

  @Field(() => DATE_TIME, {
    nullable: true,
    description:
      'When it expires: a time in the future; null = never. A key that expires makes none that outlives it.',
  })
  expiresAt?: Date | null;
}
