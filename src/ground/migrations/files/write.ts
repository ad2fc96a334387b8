import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DatabaseSchema } from '../../database/data-source.js';
import { AppError } from '../../kernel/errors.js';
import { differences } from './migrated-tables.js';
import { migrationFile } from './print.js';

export interface WrittenMigration {
  readonly file: string;
  readonly name: string;
  readonly table: string;
  readonly losses: readonly string[];
}

/**
 * Writes a migration into `folder` for each table whose definition differs from what the migrations make, and returns them.
 * Each table has its own, because MySQL changes one table at once or not at all. Throws `AppError conflict`, and writes nothing,
 * if one cannot be written, or would delete values while `allowsLoss` is false.
 */
export async function writeMigrations(
  schema: DatabaseSchema,
  { folder, allowsLoss, atMs }: { folder: string; allowsLoss: boolean; atMs: number },
): Promise<WrittenMigration[]> {
  const found = await differences(schema);
  const problems = found.flatMap((each) => each.problems);
  if (problems.length > 0) throw new AppError('conflict', problems.join('\n'));
  const losses = found.flatMap((each) => each.losses);
  if (losses.length > 0 && !allowsLoss) {
    throw new AppError(
      'conflict',
      `${losses.join('\n')}\nIf you mean that, repeat the command with --allow-loss.`,
    );
  }
  if (found.length === 0) return [];
  // They run in the order of their times, also if the clock of the last author was ahead.
  const firstMs = Math.max(
    atMs,
    1 + Math.max(0, ...schema.migrations.map(({ name }) => Number(name.slice(-13)))),
  );
  const isTypeScript = await hasTypeScript(folder);
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

/** Whether the files of the gateway beside the folder are TypeScript. */
async function hasTypeScript(folder: string): Promise<boolean> {
  const names = await Promise.all(
    [dirname(folder), folder].map((each) => (existsSync(each) ? readdir(each) : [])),
  );
  return names.flat().some((name) => name.endsWith('.ts'));
}
