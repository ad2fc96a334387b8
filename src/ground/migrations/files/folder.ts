import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DatabaseSchema } from '../../database/data-source.js';

type Migrations = DatabaseSchema['migrations'];

const FILE = /(?<!\.d)\.[jt]s$/;
/** TypeORM orders migrations by the time in their names. */
const NAME = /\d{13}$/;

/** The migrations in the files of a folder, oldest first; none without the folder. Throws an `Error` that names a file without one. */
export async function migrationsIn(folder: string): Promise<Migrations> {
  if (!existsSync(folder)) return [];
  const files = (await readdir(folder)).filter((name) => FILE.test(name)).toSorted();
  const found = await Promise.all(
    files.map(async (name) => {
      const loaded = await import(pathToFileURL(join(folder, name)).href).catch((error: Error) => {
        throw new Error(`${join(folder, name)}: ${error.message}`);
      });
      const exported = Object.values(loaded);
      const classes = exported.filter((each) => typeof each === 'function' && NAME.test(each.name));
      if (classes.length > 0) return classes as Migrations;
      throw new Error(
        `${join(folder, name)} exports no class whose name ends with its time, such as Books1795842890413.`,
      );
    }),
  );
  return found.flat();
}
