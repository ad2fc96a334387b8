import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { SCOPES, type Scope } from '../caller.js';
import { NAME } from '../validation.js';
import { Entries } from './entries.js';
import { PLAIN } from './plain.js';

const ApiKeyScopeEnum = {
  PETS_READ: 'pets:read',
  PETS_WRITE: 'pets:write',
  DOMAINS: 'domains',
  KEYS: 'keys',
} as const satisfies Record<string, Scope>;

registerEnumType(ApiKeyScopeEnum, {
  name: 'ApiKeyScope',
  description: 'What an API key may do.',
  valuesConfig: {
    PETS_READ: { description: '`pets:read`: read pets.' },
    PETS_WRITE: { description: '`pets:write`: create and change pets.' },
    DOMAINS: { description: '`domains`: publish the project, see and change its domains.' },
    KEYS: { description: "`keys`: see, make, roll and revoke the project's API keys." },
  },
});

@ObjectType('ApiKey', { description: 'What is known of an API key: never the key itself.', ...PLAIN })
export class ApiKeyType {
  @Field(() => ID, { description: 'Unique identifier: the digits of a 64-bit integer.' })
  id!: string;

  @Field(() => String, { description: 'Its name for people, as it was given.' })
  name!: string;

  @Field(() => String, { description: 'The first characters of its token, to recognise it by.' })
  prefix!: string;

  @Entries(SCOPES.length)
  @Field(() => [ApiKeyScopeEnum], { description: 'What it may do.' })
  scopes!: Scope[];

  @Field(() => GraphQLDateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => GraphQLDateTime, {
    nullable: true,
    description: 'From when on it is no longer in force; null = never.',
  })
  expiresAt!: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'When it was revoked; null = it was not.' })
  revokedAt!: Date | null;

  @Field(() => GraphQLDateTime, {
    nullable: true,
    description: 'When a request last came with it, to about a minute; null = never.',
  })
  lastUsedAt!: Date | null;

  @Field(() => Boolean, { description: 'Whether this request came with it.' })
  isCurrent!: boolean;
}

@ObjectType('CreatedApiKey', {
  description: 'An API key just made: the only moment its token is known.',
  ...PLAIN,
})
export class CreatedApiKeyType {
  @Field(() => ApiKeyType, { description: 'The key.' })
  key!: ApiKeyType;

  @Field(() => String, {
    description: 'What to send as `Authorization: Bearer <token>`. Shown this once, and stored nowhere.',
  })
  token!: string;
}

@InputType('NewApiKey', { description: 'An API key to make.' })
export class NewApiKeyInput {
  @Field(() => String, { description: `Its name for people: 1 to ${NAME.maxLength} characters.` })
  name!: string;

  @Field(() => [ApiKeyScopeEnum], {
    description: 'What it may do: at least one scope, and only those that the key which asks has itself.',
  })
  scopes!: Scope[];

  @Field(() => GraphQLDateTime, {
    nullable: true,
    description: 'From when on it is no longer in force: a moment in the future; null = never.',
  })
  expiresAt?: Date | null;
}
