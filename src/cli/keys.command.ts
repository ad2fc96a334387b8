import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Gateway } from '../app/gateway.js';
import type { Scope, Scopes } from '../ground/kernel/caller.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../ground/kernel/duration.js';
import { parseInt64 } from '../ground/kernel/int64.js';
import type { BanStatus } from '../request/rate-limit/rules/bans.js';
import { projectSubject } from '../request/rate-limit/rules/subjects.js';
import type { ApiKey } from '../tenants/api-keys/api-key.entity.js';
import { isoTime, type Output, table } from './output.js';
import { commandLineActor, withServices } from './session.js';

interface CreateOptions {
  scopes: Scope[];
  name: string;
  expires?: number;
  rehearse?: boolean;
}

export function keysCommands(program: Command, gateway: Gateway, output: Output): void {
  const { scopes: known } = gateway;
  const all = known.all.join(',');
  const keys = program.command('keys').description('API keys of a project.');
  const ofKey = (name: string) => keys.command(name).argument('<key-id>', 'from `keys list`', toKeyId);

  keys
    .command('create <slug>')
    .description('Create an API key for a project. The key is shown only once.')
    .option('--scopes <scopes>', `separated by commas: ${known.all.join(', ')}`, toScopes(known), [
      ...known.ofNouns,
    ])
    .option('--name <name>', 'a name for the list of keys', 'command line')
    .option('--expires <duration>', 'such as 12h or 90d (default: never)', toLifetimeMs)
    .option('--rehearse', "on staging the key may request refusals, to test a client's back-off")
    .addHelpText(
      'after',
      `
Examples:
  $ petstore keys create shop
  $ petstore keys create shop --scopes ${all}   # everything in the dashboard
  $ petstore keys create shop --scopes ${known.ofNouns[0]} --name storefront --expires 90d
  $ API_KEY=$(petstore keys create shop --json | jq -r .key)`,
    )
    .action(async (slug: string, { scopes, name, expires, rehearse: rehearses = false }: CreateOptions) => {
      const { key, token } = await withServices(gateway, async ({ projects, apiKeys }) => {
        const { id: projectId } = await projects.getBySlug(slug);
        const expiresAtMs = expires === undefined ? null : Date.now() + expires;
        return apiKeys.create(commandLineActor(), { projectId, name, scopes, expiresAtMs, rehearses });
      });
      output.result({ ...toJson(key), key: token }, issuedText(token, key));
    });

  keys
    .command('list <slug>')
    .description("Show a project's keys with their bans and strikes. The keys themselves are not stored.")
    .addHelpText('after', '\nExample:\n  $ petstore keys list shop')
    .action(async (slug: string) => {
      const all = await withServices(gateway, async ({ projects, apiKeys }, storage) => {
        const { id } = await projects.getBySlug(slug);
        const keys = await apiKeys.list(id);
        const { readBans } = await import('../request/rate-limit/key-bans.js');
        const ofProject = { subject: projectSubject(id), keyIds: keys.map((key) => String(key.id)) };
        const bans = await readBans(storage, ofProject, Date.now()).catch((error) => {
          output.note(`Bans are not shown. ${error.message}`);
          return null;
        });
        return keys.map((key) => ({ key, ban: bans && banOf(bans.get(String(key.id))) }));
      });
      const rows = all.map(({ key, ban }) => ({ ...toRow(key), ban: ban ? banText(ban) : 'unknown' }));
      const json = all.map(({ key, ban }) => ({ ...toJson(key), ban }));
      output.result({ keys: json }, table(rows, `No key yet. petstore keys create ${slug}`));
    });

  ofKey('revoke')
    .description('Revoke a key. All processes refuse it within a second.')
    .addHelpText('after', '\nExample:\n  $ petstore keys revoke 240518168576')
    .action(async (id: bigint) => {
      const key = await withServices(gateway, ({ apiKeys }) => apiKeys.revoke(commandLineActor(), id));
      output.result(toJson(key), `API key ${id} (${key.prefix}…) is revoked.`);
    });

  ofKey('rename')
    .argument('<name>', 'the new name')
    .description('Give a key another name.')
    .addHelpText('after', '\nExample:\n  $ petstore keys rename 240518168576 storefront')
    .action(async (id: bigint, name: string) => {
      const key = await withServices(gateway, ({ apiKeys }) => apiKeys.rename(commandLineActor(), id, name));
      output.result(toJson(key), `API key ${id} (${key.prefix}…) is now named ${key.name}.`);
    });

  ofKey('unban')
    .description('Lift the ban of a key and reset its strikes, within two seconds.')
    .addHelpText('after', '\nExample:\n  $ petstore keys unban 240518168576')
    .action(async (id: bigint) => {
      const { key, lifted } = await withServices(gateway, async ({ apiKeys }, storage) => {
        const key = await apiKeys.get(id);
        const { projectId } = key;
        const subject = projectSubject(projectId);
        const keyId = String(id);
        const { liftBan, readBans } = await import('../request/rate-limit/key-bans.js');
        const known = await readBans(storage, { subject, keyIds: [keyId] }, Date.now());
        // Also without a stored ban: a new ban may not be stored yet.
        await liftBan(storage, { subject, keyId });
        await apiKeys.recordBan(commandLineActor(), { keyId: id, projectId }, null);
        return { key, lifted: banOf(known.get(keyId)) };
      });
      output.result({ ...toJson(key), lifted }, `API key ${id} (${key.prefix}…) ${liftedText(lifted)}`);
    });

  ofKey('roll')
    .description('Replace a key with a new one that has the same rights. The new key is shown only once.')
    .addOption(
      new Option('--overlap <duration>', 'how long the old key stays valid; 0s = not at all')
        .argParser(durationMs)
        .default(durationMs('24h'), '24h'),
    )
    .addHelpText('after', '\nExample:\n  $ petstore keys roll 240518168576 --overlap 7d')
    .action(async (id: bigint, { overlap: overlapMs }: { overlap: number }) => {
      const { key, token, old } = await withServices(gateway, async ({ apiKeys }) => {
        const issued = await apiKeys.roll(commandLineActor(), id, overlapMs);
        return { ...issued, old: await apiKeys.get(id) };
      });
      const expiresAt = isoTime(old.expiresAtMs);
      output.result(
        { ...toJson(key), key: token, replaces: { id, expiresAt } },
        issuedText(token, key, ` API key ${id} stays valid until ${expiresAt}.`),
      );
    });
}

function issuedText(token: string, key: ApiKey, more = ''): string {
  return `${token}\n\nThis is the only time the key is shown.${more}\n\n${table([toRow(key)])}`;
}

interface Ban {
  until: string | null;
  strikes: number;
}

function banOf({ untilSeconds, strikes }: Pick<BanStatus, 'untilSeconds' | 'strikes'> = NO_BAN): Ban {
  return { until: isoTime(untilSeconds && untilSeconds * 1000), strikes };
}

const NO_BAN = { untilSeconds: null, strikes: 0 };

function banText({ until, strikes }: Ban): string | null {
  if (until) return `until ${until}`;
  if (strikes === 0) return null;
  return strikes === 1 ? '1 strike' : `${strikes} strikes`;
}

function liftedText(ban: Ban): string {
  if (ban.until) return `is no longer banned. Its ban would have ended ${ban.until}.`;
  const strikes = banText(ban);
  return strikes ? `was not banned. Its ${strikes} are forgotten.` : 'was not banned, and had no strikes.';
}

function toScopes(known: Scopes): (text: string) => Scope[] {
  return (text) => {
    const wanted = text.split(',').map((scope) => scope.trim());
    const isKnown = wanted.every((scope) => known.all.some((each) => each === scope));
    if (!isKnown) throw new InvalidArgumentError(`The scopes are ${known.all.join(', ')}.`);
    return known.known(wanted);
  };
}

function toLifetimeMs(text: string): number {
  const lifetimeMs = durationMs(text);
  if (lifetimeMs === 0) throw new InvalidArgumentError('It must be at least 1s.');
  return lifetimeMs;
}

function toKeyId(text: string): bigint {
  const id = parseInt64(text);
  if (id === null) throw new InvalidArgumentError('It must be the number that `keys list` shows as ID.');
  return id;
}

function toJson(key: ApiKey) {
  return {
    id: key.id,
    projectId: key.projectId,
    name: key.name,
    prefix: key.prefix,
    scopes: key.scopes.split(','),
    rehearses: key.rehearses,
    createdAt: isoTime(key.createdAtMs),
    expiresAt: isoTime(key.expiresAtMs),
    revokedAt: isoTime(key.revokedAtMs),
    lastUsedAt: isoTime(key.lastUsedAtMs),
  };
}

function toRow(key: ApiKey) {
  return {
    id: String(key.id),
    prefix: `${key.prefix}…`,
    name: key.name,
    scopes: key.scopes,
    created: isoTime(key.createdAtMs),
    expires: isoTime(key.expiresAtMs) ?? 'never',
    revoked: isoTime(key.revokedAtMs),
    used: isoTime(key.lastUsedAtMs),
  };
}

const UNIT_MS = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS } as const;

/** Milliseconds of `30s`, `15m`, `24h` or `90d`. Throws commander's `InvalidArgumentError`. */
export function durationMs(text: string): number {
  const [, amount, unit] = /^(\d{1,5})([smhd])$/.exec(text) ?? [];
  if (amount === undefined) {
    throw new InvalidArgumentError('It must be a whole number with a unit, such as 30s, 15m, 24h or 90d.');
  }
  return Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
}
