import { parseInt64 } from '../kernel/int64.js';

export interface KeyName {
  name: string;
  prefix: string;
}

/** The id of the key that acted; null = no key acted. */
export function keyIdOf(actor: string): bigint | null {
  return actor.startsWith('key:') ? parseInt64(actor.slice('key:'.length)) : null;
}

/**
 * The actor as people read it. `keys` are the project's own keys: a key of another project is never named. The operator's
 * account on the machine stays in the table. D-107.
 */
export function nameOfActor(actor: string, keys: ReadonlyMap<bigint, KeyName>): string {
  const keyId = keyIdOf(actor);
  if (keyId !== null) {
    const key = keys.get(keyId);
    return key ? `API key ${keyLabel(key)}` : 'Another project';
  }
  if (actor.startsWith('cli:')) return 'Operator, on the command line';
  return OWN_ACTORS[actor] ?? 'The gateway';
}

/** Actors of the gateway itself. */
const OWN_ACTORS: Readonly<Record<string, string>> = { limiter: 'The rate limiter', demo: 'The demo setup' };

export function keyLabel({ name, prefix }: KeyName): string {
  return `${name} (${prefix}…)`;
}
