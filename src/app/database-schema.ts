import type { DatabaseSchema } from '../ground/database/data-source.js';
import type { LoadedGateway } from './gateway.js';
import { CAPABILITIES } from './services.js';

/** The tables of a gateway. Spec: the database's schema is what its migrations make of it. */
export function databaseSchema({
  nouns,
  migrations,
}: Pick<LoadedGateway, 'nouns' | 'migrations'>): DatabaseSchema {
  const all: readonly DatabaseSchema[] = [...CAPABILITIES.map(({ schema }) => schema), ...nouns];
  return {
    entities: all.flatMap(({ entities }) => entities),
    migrations: oldestFirst([...all.flatMap((each) => each.migrations), ...migrations]),
    definitions: all.flatMap(({ definitions = [] }) => definitions),
  };
}

/** A migration's name ends with its time. */
function oldestFirst(migrations: DatabaseSchema['migrations']): DatabaseSchema['migrations'] {
  const timeOf = ({ name }: { name: string }) => Number(name.slice(-13));
  return migrations.toSorted((a, b) => timeOf(a) - timeOf(b));
}
