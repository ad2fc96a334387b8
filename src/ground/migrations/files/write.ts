import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSchema } from '../../database/data-source.js';
import { AppError } from '../../kernel/errors.js';
import type { Rename } from './compare.js';
import { differences } from './migrated-tables.js';
import { migrationFile } from './print.js';

export interface WrittenMigration {
  readonly file: string;
  readonly name: string;
  readonly table: string;
  readonly losses: readonly string[];
}

interface WriteOptions {
  readonly folder: string;
  /** As the gateway's own file. */
  readonly isTypeScript: boolean;
  readonly allowsLoss: boolean;
  readonly atMs: number;
  readonly renames?: readonly Rename[];
}

/**
 * Writes a migration into `folder` for each table whose definition differs from what the migrations make, and returns them.
 * Each table has its own, because MySQL changes one table at once or not at all. Throws `AppError conflict`, and writes nothing,
 * if one cannot be written, or would delete values while `allowsLoss` is false. A field that `renames` names keeps its values.
 */
export async function writeMigrations(
  schema: DatabaseSchema,
  { folder, isTypeScript, allowsLoss, atMs, renames = [] }: WriteOptions,
): Promise<WrittenMigration[]> {
  const tables = (schema.definitions ?? []).map(({ name }) => name);
  const unknown = renames.find(({ table }) => !tables.includes(table));
  if (unknown) {
    throw new AppError('conflict', `No table is called ${unknown.table}. There are ${tables.join(', ')}.`);
  }
  const found = await differences(schema, renames);
  const problems = found.flatMap((each) => each.problems);
  const losses = found.flatMap((each) => each.losses);
  if (problems.length > 0 || (losses.length > 0 && !allowsLoss)) {
    const hints = found.flatMap((each) => each.hints);
    const advice = problems.length > 0 ? [] : ['If you mean that, repeat the command with --allow-loss.'];
    const refused = problems.length > 0 ? problems : losses;
    throw new AppError('conflict', [...refused, ...hints, ...advice].join('\n'));
  }
  if (found.length === 0) return [];
  // They run in the order of their times, also if the clock of the last author was ahead.
  const firstMs = Math.max(
    atMs,
    1 + Math.max(0, ...schema.migrations.map(({ name }) => Number(name.slice(-13)))),
  );
  await mkdir(folder, { recursive: true });
  const written: WrittenMigration[] = [];
  for (const [at, difference] of found.entries()) {
    const { name, className, text } = migrationFile(difference, firstMs + at, isTypeScript);
    const file = join(folder, name);
    await writeFile(file, text, { flag: 'wx' });
    written.push({ file, name: className, table: difference.table.name, losses: difference.losses });
  }
  return written;
}
