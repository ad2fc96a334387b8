import { type Command, Option } from 'commander';
import type { Gateway } from '../../app/gateway.js';
import type { Services } from '../../app/services.js';
import { capitalized, listed } from '../../noun-words.js';
import type { NounDescription } from '../../nouns.js';
import { fileLines, withoutFormulas } from '../../tenants/files/file-lines.js';
import { FILE_FORMATS, type FileFormat, formatOfName } from '../../tenants/files/rows.js';
import { standardOutput, writeNewFile } from '../file-target.js';
import { LongRun, paceText, sayWaiting } from '../long-run.js';
import { EXIT, grouped, type Output } from '../output.js';
import { withServices } from '../session.js';

interface ExportOptions {
  format?: FileFormat;
  force?: boolean;
  safeForSpreadsheets?: boolean;
}

export function exportCommand(group: Command, gateway: Gateway, noun: NounDescription, output: Output): void {
  group
    .command('export <slug> [file]')
    .description(
      `Export all ${noun.plural} to a CSV or NDJSON file, or to standard output. Import reads the file back.`,
    )
    .addOption(
      new Option('--format <format>', 'the default is in the file name, or csv').choices(FILE_FORMATS),
    )
    .option('--force', 'replace an existing file')
    .option('--safe-for-spreadsheets', 'CSV: write an apostrophe before each text that is a formula')
    .addHelpText('after', exportHelp(noun))
    .action(async (slug: string, file: string | undefined, options: ExportOptions, command: Command) => {
      const path = file === '-' ? undefined : file;
      const problem = usageProblem(path, options, noun, output);
      if (problem) command.error(`error: ${problem}`);
      const format = options.format ?? formatOfName(path ?? '') ?? 'csv';
      if (options.safeForSpreadsheets && format !== 'csv') {
        command.error('error: --safe-for-spreadsheets is for CSV');
      }
      output.exitCode = await withServices(gateway, (services) =>
        runExport(services, { noun, slug, path, format, options, output }),
      );
    });
}

function exportHelp({ plural, fields }: NounDescription): string {
  const guarded = fields.filter(({ reference }) => reference?.mustExist).map(({ name }) => name);
  const kept = guarded.length
    ? `\nThe ids in ${listed(guarded)} are kept: a project without these records refuses the rows.`
    : '';
  return `
CSV has the columns ${listed(['id', ...fields.map(({ name }) => name)])}. NDJSON has one object per line, as in GET /v1/${plural}. Both are UTF-8.
Texts are written as they are: a spreadsheet may run one such as =1+1 as a formula. With --safe-for-spreadsheets
it becomes '=1+1, and an import of that file keeps the apostrophe.
Imported into another project the file gives the same ${plural} in the same order, with new ids: an import ignores id.${kept}
${capitalized(plural)} are written in the order of their ids. ${capitalized(plural)} added after the start are left out.
The file appears when it is complete. Without --force an existing file stays unchanged.
Exit code: 0 all ${plural} exported, 1 refused or interrupted, 2 wrong usage.

Examples:
  $ petstore ${plural} export shop ${plural}.csv
  $ petstore ${plural} export shop --format ndjson | gzip > ${plural}.ndjson.gz
  $ petstore ${plural} export shop ${plural}.ndjson && petstore ${plural} import shop-2 ${plural}.ndjson`;
}

function usageProblem(
  path: string | undefined,
  { format, force }: ExportOptions,
  { plural }: NounDescription,
  { isJson }: Output,
): string | null {
  if (path === undefined) {
    if (isJson) return `--json needs a file: standard output has the ${plural}`;
    return force ? '--force needs a file' : null;
  }
  const named = formatOfName(path);
  if (named === null && format === undefined) return 'name the file .csv or .ndjson, or use --format';
  if (named === null || format === undefined || named === format) return null;
  // The import finds the format in the name.
  return `--format is ${format}, but the name of the file says ${named}`;
}

interface Export {
  noun: NounDescription;
  slug: string;
  /** Undefined = standard output. */
  path: string | undefined;
  format: FileFormat;
  options: ExportOptions;
  output: Output;
}

async function runExport(
  { projects, filesOf }: Services,
  { noun, slug, path, format, options, output }: Export,
): Promise<number> {
  const { exports } = filesOf(noun.plural);
  const lines = fileLines(noun.fields, format);
  const { id: projectId } = await projects.getBySlug(slug);
  const isShown = output.showsProgress && !(path === undefined && process.stdout.isTTY);
  const run = new LongRun(isShown);
  const { signal } = run;
  let exported = 0;
  let isComplete = false;
  const writeTo = async (write: (data: string) => Promise<void>) => {
    const total = isShown ? await exports.count(projectId) : null;
    await write(lines.start);
    for await (const records of exports.pages(projectId, { signal, onWait: sayWaiting() })) {
      const shown = options.safeForSpreadsheets
        ? records.map((record) => withoutFormulas(record, noun.fields))
        : records;
      await write(shown.map(lines.line).join(''));
      exported += records.length;
      run.update(exported, exported, total);
    }
    signal.throwIfAborted();
  };
  try {
    if (path === undefined) await writeTo(standardOutput(signal));
    else await writeNewFile({ path, isForced: options.force === true }, writeTo);
    isComplete = true;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    run.end();
  }
  const pace = run.pace(exported);
  const end = isComplete
    ? `${grouped(exported)} exported in ${paceText(pace)}`
    : `Interrupted after ${grouped(exported)} ${noun.plural}.${path === undefined ? '' : ' No file was written.'}`;
  const json = {
    project: slug,
    file: isComplete ? path : null,
    format,
    exported,
    complete: isComplete,
    ...pace,
  };
  if (path === undefined) output.note(end);
  else output.result(json, end);
  return isComplete ? EXIT.ok : EXIT.refused;
}
