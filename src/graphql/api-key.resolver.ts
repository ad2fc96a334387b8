import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, Directive, ID, Info, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { ApiKey } from '../api-keys/api-key.entity.js';
import { type IssuedApiKey, refuseUnknown } from '../api-keys/api-key.service.js';
import type { KeyUses } from '../api-keys/key-uses.js';
import { scopesOf } from '../api-keys/known-key.js';
import { MAX_OVERLAP_SECONDS } from '../api-keys/new-key.rules.js';
import {
  type KeyRequest,
  MAX_KEYS_IN_FORCE,
  MAX_KEYS_SHOWN,
  type ProjectKeys,
} from '../api-keys/project-keys.js';
import { keyActor } from '../audit/audit-log.js';
import type { Caller } from '../caller.js';
import { parseInt64 } from '../int64.js';
import { ApiKeyType, CreatedApiKeyType, NewApiKeyInput } from './api-key.type.js';
import { Batch } from './batch.js';
import { type Context, idempotencyKeyOf } from './context.js';
import { Entries } from './entries.js';
import { Statements } from './statements.js';

const OVERLAP_SECONDS = 86_400;
const SHOWN_ONCE =
  'With an `Idempotency-Key` header a repetition makes no second key, and answers `CONFLICT`, as a token is shown once.';

@Resolver(() => ApiKeyType)
export class ApiKeyResolver {
  private readonly current = new Batch<null, ApiKeyType>(async ({ caller }) =>
    this.present(await this.keys.current(caller), caller),
  );
  private readonly lists = new Batch<null, ApiKeyType[]>(async ({ caller }) => {
    const all = await this.keys.list(caller);
    return all.map((key) => this.present(key, caller));
  });

  constructor(
    private readonly keys: ProjectKeys,
    private readonly uses: KeyUses,
  ) {}

  @Statements(1)
  @Query(() => ApiKeyType, { description: 'The key that asks. Needs no scope.' })
  apiKey(@Ctx() context: Context): Promise<ApiKeyType> {
    return this.current.join(context, null);
  }

  @Statements(2)
  @Entries(MAX_KEYS_SHOWN)
  @Query(() => [ApiKeyType], {
    description:
      'The API keys of the project, newest first; those that were revoked or expired for 30 days more. Needs the scope `keys`.',
  })
  apiKeys(@Ctx() context: Context): Promise<ApiKeyType[]> {
    return this.lists.join(context, null);
  }

  @Statements(7)
  @Directive('@rateLimit(max: 60, window: "1m")')
  @Mutation(() => CreatedApiKeyType, {
    description: `Makes an API key; at most ${MAX_KEYS_IN_FORCE} may be in force. ${SHOWN_ONCE} Needs the scope \`keys\`.`,
  })
  async createApiKey(
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
    @Arg('input', () => NewApiKeyInput, { description: 'The key.' }) input: NewApiKeyInput,
  ): Promise<CreatedApiKeyType> {
    const { name, scopes, expiresAt } = input;
    const wanted = { name, scopes, expiresAtMs: expiresAt ? expiresAt.getTime() : null };
    return this.presentIssued(await this.keys.create(requestOf(context, info), wanted), context);
  }

  @Statements(11)
  @Directive('@rateLimit(max: 60, window: "1m")')
  @Mutation(() => CreatedApiKeyType, {
    description: `Makes a new key with the same name and scopes in the place of another, which may be the one that asks. ${SHOWN_ONCE} Needs the scope \`keys\`.`,
  })
  async rollApiKey(
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
    @Arg('id', () => ID, { description: 'The key to replace.' }) id: string,
    @Arg('overlapSeconds', () => Int, {
      nullable: true,
      defaultValue: OVERLAP_SECONDS,
      description: `How long the old key stays in force, never beyond its own expiry: 0 to ${MAX_OVERLAP_SECONDS}.`,
    })
    overlapSeconds: number | null,
  ): Promise<CreatedApiKeyType> {
    const request = requestOf(context, info);
    return this.presentIssued(
      await this.keys.roll(request, keyId(id), overlapSeconds ?? OVERLAP_SECONDS),
      context,
    );
  }

  @Statements(8)
  @Directive('@rateLimit(max: 60, perKey: true, window: "1m")')
  @Mutation(() => ApiKeyType, {
    description:
      'Ends an API key: within a second it counts nowhere. It may be the key that asks, whose next request is then refused. A second time changes nothing. Needs the scope `keys`.',
  })
  async revokeApiKey(
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
    @Arg('id', () => ID, { description: 'The key to end.' }) id: string,
  ): Promise<ApiKeyType> {
    return this.present(await this.keys.revoke(requestOf(context, info), keyId(id)), context.caller);
  }

  private presentIssued({ key, token }: IssuedApiKey, { caller }: Context): CreatedApiKeyType {
    return { key: this.present(key, caller), token };
  }

  private present(key: ApiKey, caller: Caller): ApiKeyType {
    const isCurrent = key.id === caller.keyId;
    // This very request is noted when it has been answered.
    if (isCurrent) this.uses.note(key.id);
    return {
      id: String(key.id),
      name: key.name,
      prefix: key.prefix,
      scopes: scopesOf(key),
      createdAt: new Date(key.createdAtMs),
      expiresAt: dateOf(key.expiresAtMs),
      revokedAt: dateOf(key.revokedAtMs),
      lastUsedAt: dateOf(this.uses.lastUsedAtMs(key)),
      isCurrent,
    };
  }
}

function requestOf(context: Context, info: GraphQLResolveInfo): KeyRequest {
  const { caller, requestId } = context;
  return { caller, actor: keyActor(caller, requestId), idempotencyKey: idempotencyKeyOf(context, info) };
}

/** An id that is no integer belongs to no key. Throws `AppError not_found`. */
function keyId(text: string): bigint {
  return parseInt64(text) ?? refuseUnknown(text);
}

function dateOf(atMs: number | null): Date | null {
  return atMs === null ? null : new Date(atMs);
}
