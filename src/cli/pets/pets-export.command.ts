import { type Command, Option } from 'commander';
import type { Services } from '../../app/services.js';
import { FILE_START, PET_LINE, withoutFormulas } from '../../pets/files/pet-export.service.js';
import { formatOfName, PET_FORMATS, type PetFormat } from '../../pets/files/rows.js';
import { newFile, standardOutput } from '../file-target.js';
import { LongRun, type Pace, paceText, sayWaiting } from '../long-run.js';
import { EXIT, grouped, type Output } from '../output.js';
import { withServices } from '../session.js';

interface ExportOptions {
  format?: PetFormat;
  force?: boolean;
  safeForSpreadsheets?: boolean;
}

export function exportCommand(pets: Command, output: Output): void {
  pets
    .command('export <slug> [file]')
    .description(
      'Export all pets to a CSV or NDJSON file, or to standard output. Import reads the file back.',
    )
    .addOption(
      new Option('--format <format>', 'the default is in the file name, or csv').choices(PET_FORMATS),
    )
    .option('--force', 'replace an existing file')
    .option('--safe-for-spreadsheets', 'CSV: write an apostrophe before each formula in a name')
    .addHelpText(
      'after',
      `
CSV has the columns id, name, categoryId and status. NDJSON has one object per line, as in GET /v1/pets. Both are UTF-8.
Names are written as they are: a spreadsheet may run a name such as =1+1 as a formula. With --safe-for-spreadsheets
it becomes '=1+1, and an import of that file keeps the apostrophe.
Imported into another project the file gives the same pets in the same order, with new ids: an import ignores id.
Pets are written in the order of their ids. Pets added after the start are left out.
The file appears when it is complete. Without --force an existing file stays unchanged.
Exit code: 0 all pets exported, 1 refused or interrupted, 2 wrong usage.

Examples:
  $ petstore pets export shop pets.csv
  $ petstore pets export shop --format ndjson | gzip > pets.ndjson.gz
  $ petstore pets export shop pets.ndjson && petstore pets import shop-2 pets.ndjson`,
    )
    .action(async (slug: string, file: string | undefined, options: ExportOptions, command: Command) => {
      const path = file === '-' ? undefined : file;
      const problem = usageProblem(path, options, output);
      if (problem) command.error(`error: ${problem}`);
      const format = options.format ?? formatOfName(path ?? '') ?? 'csv';
      if (options.safeForSpreadsheets && format !== 'csv') {
        command.error('error: --safe-for-spreadsheets is for CSV');
      }
      output.exitCode = await withServices((services) =>
        runExport(services, { slug, path, format, options, output }),
      );
    });
}

function usageProblem(
  path: string | undefined,
  { format, force }: ExportOptions,
  { isJson }: Output,
): string | null {
  if (path === undefined) {
    if (isJson) return '--json needs a file: standard output has the pets';
    return force ? '--force needs a file' : null;
  }
  const named = formatOfName(path);
  if (named === null && format === undefined) return 'name the file .csv or .ndjson, or use --format';
  if (named === null || format === undefined || named === format) return null;
  // The import finds the format in the name.
  return `--format is ${format}, but the name of the file says ${named}`;
}

interface Export {
  slug: string;
  /** Undefined = standard output. */
  path: string | undefined;
  format: PetFormat;
  options: ExportOptions;
  output: Output;
}

async function runExport({ projects, petExports }: Services, wanted: Export): Promise<number> {
  const { slug, path, format, options, output } = wanted;
  const { id: projectId } = await projects.getBySlug(slug);
  const isShown = output.showsProgress && !(path === undefined && process.stdout.isTTY);
  const run = new LongRun(isShown);
  const { signal } = run;
  const target = path === undefined ? standardOutput(signal) : await newFile(path, options.force === true);
  const total = isShown ? await petExports.count(projectId) : null;
  let exported = 0;
  let isKept = false;
  try {
    await target.write(FILE_START[format]);
    for await (const pets of petExports.pages(projectId, { signal, onWait: sayWaiting() })) {
      const shown = options.safeForSpreadsheets ? pets.map(withoutFormulas) : pets;
      await target.write(shown.map(PET_LINE[format]).join(''));
      exported += pets.length;
      run.update(exported, exported, total);
    }
    if (!signal.aborted) {
      await target.keep();
      isKept = true;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    run.end();
    if (!isKept) await target.discard();
  }
  summarize(wanted, { exported, isComplete: isKept, pace: run.pace(exported) });
  return isKept ? EXIT.ok : EXIT.refused;
}

function summarize(
  { slug, path, format, output }: Export,
  { exported, isComplete, pace }: { exported: number; isComplete: boolean; pace: Pace },
): void {
  const end = isComplete
    ? `${grouped(exported)} exported in ${paceText(pace)}`
    : `Interrupted after ${grouped(exported)} pets.${path === undefined ? '' : ' No file was written.'}`;
  const file = isComplete ? path : null;
  if (path === undefined) output.note(end);
  else output.result({ project: slug, file, format, exported, complete: isComplete, ...pace }, end);
}
