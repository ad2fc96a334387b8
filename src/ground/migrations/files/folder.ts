import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../config/config.js';
import type { DatabaseSchema } from '../../database/data-source.js';
import { importOwn } from '../../own-files/own-file.js';

type Migrations = DatabaseSchema['migrations'];

const FILE = /(?<!\.(d|test))\.[jt]s$/;
/** TypeORM orders migrations by the time in their names. */
const NAME = /\d{13}$/;

/**
 * The migrations in the files of a folder, oldest first; none without the folder. Throws `ConfigError` that names a file
 * without one, or a file that cannot be loaded.
 */
export async function migrationsIn(folder: string): Promise<Migrations> {
  if (!existsSync(folder)) return [];
  const names = (await readdir(folder)).filter((name) => FILE.test(name));
  // A compiler can write its `.js` beside a `.ts`: it is one migration.
  const files = names.filter((name) => name.endsWith('.ts') || !names.includes(name.replace(/\.js$/, '.ts')));
  const found = await Promise.all(
    files.toSorted().map(async (name) => {
      const path = join(folder, name);
      const exported = Object.values(await importOwn('The migration', path));
      const classes = exported.filter((each) => typeof each === 'function' && NAME.test(each.name));
      if (classes.length > 0) return classes as Migrations;
      throw new ConfigError(
        `${path} exports no class whose name ends with its time, such as Books1795842890413.`,
      );
    }),
  );
  const migrations = found.flat();
  const all = migrations.map(({ name }) => name);
  const repeated = all.find((name, at) => all.indexOf(name) < at);
  if (repeated === undefined) return migrations;
  throw new ConfigError(`Two files in ${folder} have the migration ${repeated}.`);
}
