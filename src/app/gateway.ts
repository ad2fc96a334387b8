import { fileURLToPath } from 'node:url';
import { ConfigError } from '../ground/config/config.js';
import type { DatabaseSchema } from '../ground/database/data-source.js';
import { MAX_SCOPES_LENGTH, Scopes } from '../ground/kernel/caller.js';
import { relationsOf } from '../noun/definition/relations.js';
import type { Noun, NounSource } from '../noun/noun.js';
import { capitalized, type GatewayDescription, scopesOfNoun } from '../noun-words.js';
import type { NounDescription } from '../nouns.js';
import { type Brand, type BrandOptions, brandOf } from './brand.js';
import { isReserved, requireTables, sameName } from './reserved-names.js';

/** The name of a gateway and the nouns it serves. Everything else is a setting of the environment. */
interface GatewayOptions extends BrandOptions {
  /** Examples that need only one noun have the first. */
  readonly nouns: readonly NounSource[];
  /** A folder, into which `petstore migrate --write` writes: `new URL('./migrations/', import.meta.url)`. Or the migrations. */
  readonly migrations?: DatabaseSchema['migrations'] | URL;
}

/** Loads no database library: the command line needs it for its help. */
export interface Gateway extends Brand {
  readonly migrations: DatabaseSchema['migrations'] | URL;
  readonly nouns: readonly [NounSource, ...NounSource[]];
  readonly scopes: Scopes;
}

export interface LoadedGateway extends Omit<Gateway, 'nouns' | 'migrations'> {
  readonly nouns: readonly [Noun, ...Noun[]];
  readonly migrations: DatabaseSchema['migrations'];
}

/** A gateway is a value: several can live in one process. Throws, with one sentence, for what cannot work. D-272. */
export function createGateway(options: GatewayOptions): Gateway {
  const { nouns, migrations = [], ...presented } = options;
  const brand = brandOf(presented);
  const { name } = brand;
  requireOptions(options);
  const [first, ...others] = nouns;
  if (!first) throw new Error(`The gateway ${name} needs at least one noun.`);
  const descriptions = nouns.map(({ description }) => description);
  requireNames(descriptions);
  relationsOf(descriptions);
  const scopes = new Scopes(descriptions.flatMap(scopesOfNoun).map(({ scope }) => scope));
  const { length } = scopes.all.join();
  if (length > MAX_SCOPES_LENGTH) {
    const most = `an API key stores at most ${MAX_SCOPES_LENGTH} characters of scopes`;
    throw new Error(`The gateway ${name} has too many nouns: ${most}, and theirs have ${length}.`);
  }
  return { ...brand, nouns: [first, ...others], migrations, scopes };
}

/** Throws `ConfigError`, with one sentence, if a file of the gateway or a definition is wrong. */
export async function loadGateway(gateway: Gateway): Promise<LoadedGateway> {
  try {
    return await loaded(gateway);
  } catch (error) {
    // It names the file.
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`The gateway ${gateway.name} could not be loaded: ${(error as Error).message}`);
  }
}

async function loaded({
  nouns: [first, ...others],
  migrations,
  ...gateway
}: Gateway): Promise<LoadedGateway> {
  const nouns = await Promise.all([first.load(), ...others.map((noun) => noun.load())] as const);
  requireTables(nouns);
  if (!(migrations instanceof URL)) return { ...gateway, nouns, migrations };
  const { migrationsIn } = await import('../ground/migrations/files/folder.js');
  return { ...gateway, nouns, migrations: await migrationsIn(fileURLToPath(migrations)) };
}

/** The gateway in words. */
export function describedGateway({
  nouns: [first, ...others],
  migrations: _,
  scopes: __,
  ...brand
}: LoadedGateway): GatewayDescription {
  return { ...brand, nouns: [first.description, ...others.map(({ description }) => description)] };
}

const OPTIONS = ['name', 'slug', 'icon', 'accentColor', 'nouns', 'migrations'];

/** For authors without TypeScript. */
function requireOptions(options: GatewayOptions): void {
  const { name, nouns, migrations } = options;
  const refuse = (reason: string): never => {
    throw new Error(`The gateway ${name} can't be made: ${reason}.`);
  };
  const unknown = Object.keys(options).find((option) => !OPTIONS.includes(option));
  if (unknown !== undefined) refuse(`there is no option ${unknown}, only ${OPTIONS.join(', ')}`);
  if (!Array.isArray(nouns) || nouns.some((noun) => !noun?.description))
    refuse('nouns must be a list of what defineNoun returns');
  const isFolder = migrations instanceof URL && migrations.protocol === 'file:';
  if (migrations !== undefined && !isFolder && !Array.isArray(migrations))
    refuse("migrations must be new URL('./migrations/', import.meta.url), or a list of classes");
}

function requireNames(nouns: readonly NounDescription[]): void {
  const owners = new Map<string, string>();
  for (const noun of nouns) {
    const refuse = (reason: string): never => {
      throw new Error(`The noun ${JSON.stringify(noun.singular)} can't be served: ${reason}.`);
    };
    const { singular, plural, type } = noun;
    const wrong = [singular, plural, type].find((word) => !/^[A-Za-z][A-Za-z0-9]*$/.test(word));
    if (wrong !== undefined) refuse(`${JSON.stringify(wrong)} is not only letters and digits`);
    if (sameName(singular) === sameName(plural)) refuse('its plural must differ from its singular');
    for (const word of namesOf(noun)) {
      if (isReserved(word)) refuse(`${word} is a name of the platform`);
      const owner = owners.get(sameName(word)) ?? singular;
      if (owner !== singular) refuse(`${word} is a name of the noun ${owner} too`);
    }
    if (owners.has(sameName(singular))) refuse('it is there twice');
    for (const word of namesOf(noun)) owners.set(sameName(word), singular);
  }
}

/** The types and root fields of a noun in GraphQL, and its tables. Its plural is also its path, its command and its table. */
function namesOf(noun: NounDescription): readonly string[] {
  const { singular, plural, type, fields, filters, actions = [], hasTrash } = noun;
  const parts = ['Change', 'Changes', 'ChangeConnection', 'Connection', 'Edge', 'Order'];
  return [
    ...[singular, plural, type, `${singular}Count`, `${singular}Changes`],
    ...[`create${type}`, `create${capitalized(plural)}`, `update${type}`, `delete${type}`],
    ...(hasTrash
      ? [
          `deleted${capitalized(plural)}`,
          `restore${type}`,
          `Restorable${type}`,
          `Restorable${type}Connection`,
        ]
      : []),
    ...[`New${type}`, `Deleted${type}`, ...parts.map((part) => `${type}${part}`)],
    ...filters
      .filter(({ match }) => match === 'has')
      .map(({ field }) => `has${capitalized(plural)}${capitalized(field)}`),
    ...fields.filter(({ kind }) => kind === 'choice').map((field) => `${type}${capitalized(field.name)}`),
    ...actions.flatMap((action) => [
      `${action.name}${type}`,
      ...(action.fields.length > 0 ? [`${capitalized(action.name)}${type}Input`] : []),
      ...action.fields
        .filter(({ kind }) => kind === 'choice')
        .map((field) => `${type}${capitalized(action.name)}${capitalized(field.name)}`),
    ]),
  ];
}
