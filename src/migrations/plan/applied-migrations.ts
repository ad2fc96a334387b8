import type { DataSource } from 'typeorm';
import { isTableMissing } from '../../database/database-errors.js';
import { AppError } from '../../kernel/errors.js';

interface Queries {
  query(sql: string): Promise<{ name: string }[]>;
}

/** The applied migrations, oldest first; null = the database was never migrated. */
export async function appliedMigrations(queries: Queries): Promise<string[] | null> {
  const rows = await queries.query('SELECT name FROM migrations ORDER BY id').catch((error) => {
    if (isTableMissing(error)) return null;
    throw error;
  });
  return rows?.map(({ name }) => name) ?? null;
}

/** Throws `AppError conflict` when a newer release, or another program, has migrated the database. */
export function requireKnown(
  applied: string[] | null,
  { migrations }: Pick<DataSource, 'migrations'>,
): string[] {
  const known = new Set(migrations.map(nameOf));
  const unknown = (applied ?? []).find((name) => !known.has(name));
  if (unknown === undefined) return applied ?? [];
  throw new AppError(
    'conflict',
    `The database has the migration ${unknown}, which this release does not know. Use the release that migrated it.`,
  );
}

export function nameOf(migration: object): string {
  return (migration as { name?: string }).name ?? migration.constructor.name;
}
