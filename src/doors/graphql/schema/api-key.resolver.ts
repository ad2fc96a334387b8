import { Arg, Ctx, Directive, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { ServiceCall } from '../../../ground/kernel/caller.js';
import { parseInt64 } from '../../../ground/kernel/int64.js';
import type { Limiter, ServedBans } from '../../../request/rate-limit/rules/limiter.js';
import { projectSubject } from '../../../request/rate-limit/rules/subjects.js';
import { type ApiKey, scopesOf } from '../../../tenants/api-keys/api-key.entity.js';
import type { ApiKeyService } from '../../../tenants/api-keys/api-key.service.js';
import type { KeyUses } from '../../../tenants/api-keys/key-uses.js';
import { type IssuedApiKey, MAX_OVERLAP_SECONDS } from '../../../tenants/api-keys/new-key.rules.js';
import { MAX_KEYS_SHOWN, MAX_VALID_KEYS, refuseUnknown } from '../../../tenants/api-keys/valid-keys.js';
import { Batch } from '../execution/batch.js';
import { Call, type Context, serviceCallOf } from '../execution/context.js';
import { DATE_TIME, Entries } from '../operations/type-options.js';
import { ApiKeyType, CreatedApiKeyType, NewApiKeyInput } from './api-key.type.js';

const OVERLAP_SECONDS = 86_400;
const SHOWN_ONCE =
  'With an `Idempotency-Key` header a repeated request creates no second key and returns `CONFLICT`, because a token is shown only once.';

@Resolver(() => ApiKeyType)
export class ApiKeyResolver {
  private readonly current = new Batch<null, ApiKeyType>(async (context) => [
    this.present(await this.keys.get(context.caller.keyId), context),
  ]);
  private readonly lists = new Batch<null, ApiKeyType[]>(async (context) => {
    const all = await this.keys.listShown(serviceCallOf(context));
    return [all.map((key) => this.present(key, context))];
  });
  private readonly bans = new Batch<string, Date | null>(({ caller }, ids) => {
    const { projectId, quota } = caller;
    const banOf = async (keyId: string) => {
      const { ban } = await this.limiter.peek({ subject: projectSubject(projectId), keyId, quota });
      return ban?.untilSeconds ? new Date(ban.untilSeconds * 1000) : null;
    };
    return Promise.all(ids.map(banOf));
  });

  constructor(
    private readonly keys: ApiKeyService,
    private readonly uses: KeyUses,
    private readonly limiter: Pick<Limiter, 'peek'>,
    private readonly banned: ServedBans,
  ) {}

  @Query(() => ApiKeyType, { description: 'The API key of this request. Needs no scope.' })
  apiKey(@Ctx() context: Context): Promise<ApiKeyType> {
    return this.current.join(context, null);
  }

  @Entries(MAX_KEYS_SHOWN)
  @Query(() => [ApiKeyType], {
    description:
      'The API keys of the project, newest first, including those that were revoked or expired in the last 30 days. Needs the scope `keys`.',
  })
  apiKeys(@Ctx() context: Context): Promise<ApiKeyType[]> {
    return this.lists.join(context, null);
  }

  @Directive('@rateLimit(max: 60, window: "1m")')
  @Mutation(() => CreatedApiKeyType, {
    description: `Creates an API key. A project may have at most ${MAX_VALID_KEYS} valid keys. ${SHOWN_ONCE} Needs the scope \`keys\`.`,
  })
  async createApiKey(
    @Call() call: ServiceCall,
    @Arg('input', () => NewApiKeyInput, { description: 'The key to create.' }) input: NewApiKeyInput,
  ): Promise<CreatedApiKeyType> {
    const { name, scopes, expiresAt } = input;
    const { projectId } = call.caller;
    const wanted = { projectId, name, scopes, expiresAtMs: expiresAt ? expiresAt.getTime() : null };
    return this.presentIssued(await this.keys.create(call, wanted), call);
  }

  @Directive('@rateLimit(max: 60, window: "1m")')
  @Mutation(() => CreatedApiKeyType, {
    description: `Replaces a key, which may be the key of this request, by a new one with the same name and scopes. It expires when the old key would have, and never after the key of this request. ${SHOWN_ONCE} Needs the scope \`keys\`.`,
  })
  async rollApiKey(
    @Call() call: ServiceCall,
    @Arg('id', () => ID, { description: 'The key to replace.' }) id: string,
    @Arg('overlapSeconds', () => Int, {
      nullable: true,
      defaultValue: OVERLAP_SECONDS,
      description: `How many seconds the old key stays valid, never beyond its own expiry: 0 to ${MAX_OVERLAP_SECONDS}.`,
    })
    overlapSeconds: number | null,
  ): Promise<CreatedApiKeyType> {
    const overlapMs = (overlapSeconds ?? OVERLAP_SECONDS) * 1000;
    return this.presentIssued(await this.keys.roll(call, keyId(id), overlapMs), call);
  }

  @Directive('@rateLimit(max: 60, perKey: true, window: "1m")')
  @Mutation(() => ApiKeyType, {
    description:
      'Gives an API key another name, also after it was revoked. Usage, requests and the audit log show the new name for all of its time. Needs the scope `keys`.',
  })
  async renameApiKey(
    @Call() call: ServiceCall,
    @Arg('id', () => ID, { description: 'The `id` of the key to rename, such as `4711`.' }) id: string,
    @Arg('name', () => String, {
      description: 'Its new name: 1 to 255 characters, such as `storefront`. Other keys may have the same.',
    })
    name: string,
  ): Promise<ApiKeyType> {
    return this.present(await this.keys.rename(call, keyId(id), name), call);
  }

  @Directive('@rateLimit(max: 60, perKey: true, window: "1m")')
  @Mutation(() => ApiKeyType, {
    description:
      'Revokes an API key: within a second it is refused everywhere. It may be the key of this request, which is refused from its next request on. A second call changes nothing. Needs the scope `keys`.',
  })
  async revokeApiKey(
    @Call() call: ServiceCall,
    @Arg('id', () => ID, { description: 'The key to revoke.' }) id: string,
  ): Promise<ApiKeyType> {
    return this.present(await this.keys.revoke(call, keyId(id)), call);
  }

  @Directive('@rateLimit(max: 60, perKey: true, window: "1m")')
  @Mutation(() => ApiKeyType, {
    description:
      'Lifts the ban of an API key, which may be the key of this request, and forgets its strikes: its next request is decided by the quota alone. A key that is not banned stays as it is. Needs the scope `keys`.',
  })
  async unbanApiKey(
    @Call() call: ServiceCall,
    @Arg('id', () => ID, { description: 'The banned key.' }) id: string,
  ): Promise<ApiKeyType> {
    const subject = projectSubject(call.caller.projectId);
    const key = await this.keys.unban(call, keyId(id), {
      isBanned: (banned) => this.banned.isBanned({ subject, keyId: String(banned) }),
      lift: (banned) => this.banned.lift({ subject, keyId: String(banned) }),
    });
    return this.present(key, call);
  }

  @FieldResolver(() => DATE_TIME, {
    nullable: true,
    description: 'When its ban ends; null = not banned. A ban refuses only requests for {{nouns}}.',
  })
  bannedUntil(@Root() key: ApiKeyType, @Ctx() context: Context): Promise<Date | null> {
    return this.bans.join(context, key.id);
  }

  private presentIssued({ key, token }: IssuedApiKey, call: ServiceCall): CreatedApiKeyType {
    return { key: this.present(key, call), token };
  }

  private present(key: ApiKey, { caller }: Pick<ServiceCall, 'caller'>): ApiKeyType {
    const isCurrent = key.id === caller.keyId;
    // The use by this request is otherwise recorded only after the response.
    if (isCurrent) this.uses.note(key.id);
    return {
      ...key,
      id: String(key.id),
      scopes: scopesOf(key, this.keys.scopes),
      lastUsedAtMs: this.uses.lastUsedAtMs(key),
      replacedById: key.successorId === null ? null : String(key.successorId),
      isCurrent,
    };
  }
}

/** An id that is not an integer belongs to no key. Throws `AppError not_found`. */
function keyId(text: string): bigint {
  return parseInt64(text) ?? refuseUnknown(text);
}
