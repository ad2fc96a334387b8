import { basename } from 'node:path';
import type { PetFile } from '../../pets/files/pet-file.js';
import type { PetImport } from '../../pets/import/pet-import.entity.js';
import { grouped, type Output } from '../output.js';

interface Ended {
  slug: string;
  path: string;
  file: PetFile;
  before: PetImport;
  progress: PetImport;
  isComplete: boolean;
  seconds: number;
}

/** Prints what an import did, in this run and in all runs. `before` is its state at the start of this run. */
export function summarizeImport(
  output: Output,
  { slug, path, file, before, progress, isComplete, seconds }: Ended,
): void {
  const imported = progress.imported - before.imported;
  const refused = progress.refused - before.refused;
  const rowsPerSecond = Math.round((imported + refused) / Math.max(seconds, 0.001));
  const { imported: allImported, refused: allRefused, line } = progress;
  const refusedFile = allRefused > 0 ? progress.reportPath : null;
  const isResumed = before.line > 0;

  const lines = [
    `${grouped(imported)} imported, ${grouped(refused)} refused in ${seconds.toFixed(1)} s (${grouped(rowsPerSecond)} rows/s)`,
  ];
  if (before.finishedAtMs !== null) lines.unshift(`${path} was already imported completely.`);
  if (isResumed)
    lines.push(`Including earlier runs: ${grouped(allImported)} imported, ${grouped(allRefused)} refused`);
  if (refusedFile) {
    lines.push(`Refused rows: ${refusedFile}`);
    if (isComplete) lines.push(`Correct them, then: petstore pets import ${slug} ${refusedFile}`);
  }
  if (!isComplete) {
    lines.push(`Interrupted after line ${grouped(line)}.`);
    if (file.identity) lines.push(`Continue with: petstore pets import ${slug} ${path} --resume`);
  }
  const json = {
    project: slug,
    file: file.identity ? basename(path) : '-',
    imported,
    refused,
    refusedFile,
    resumedAtLine: isResumed ? before.line + 1 : null,
    complete: isComplete,
    lastLine: line,
    total: { imported: allImported, refused: allRefused },
    seconds: Number(seconds.toFixed(3)),
    rowsPerSecond,
  };
  output.result(json, lines.join('\n'));
}
