import { type Command, Option } from 'commander';
import type { Services } from '../../app/services.js';
import { capitalized, listed, type NounDescription, valueInWords } from '../../nouns.js';
import { fileLines, withoutFormulas } from '../../tenants/files/file-lines.js';
import { FILE_FORMATS, type FileFormat, formatOfName } from '../../tenants/files/rows.js';
import { newFile, standardOutput } from '../file-target.js';
import { LongRun, type Pace, paceText, sayWaiting } from '../long-run.js';
import { EXIT, grouped, type Output } from '../output.js';
import { withServices } from '../session.js';

interface ExportOptions {
  format?: FileFormat;
  force?: boolean;
  safeForSpreadsheets?: boolean;
}

export function exportCommand(group: Command, noun: NounDescription, output: Output): void {
  group
    .command('export <slug> [file]')
    .description(
      `Export all ${noun.plural} to a CSV or NDJSON file, or to standard output. Import reads the file back.`,
    )
    .addOption(
      new Option('--format <format>', 'the default is in the file name, or csv').choices(FILE_FORMATS),
    )
    .option('--force', 'replace an existing file')
    .option(
      '--safe-for-spreadsheets',
      `CSV: write an apostrophe before each formula in ${textOf(noun).withArticle}`,
    )
    .addHelpText('after', exportHelp(noun))
    .action(async (slug: string, file: string | undefined, options: ExportOptions, command: Command) => {
      const path = file === '-' ? undefined : file;
      const problem = usageProblem(path, options, noun, output);
      if (problem) command.error(`error: ${problem}`);
      const format = options.format ?? formatOfName(path ?? '') ?? 'csv';
      if (options.safeForSpreadsheets && format !== 'csv') {
        command.error('error: --safe-for-spreadsheets is for CSV');
      }
      output.exitCode = await withServices((services) =>
        runExport(services, { noun, slug, path, format, options, output }),
      );
    });
}

function exportHelp(noun: NounDescription): string {
  const { plural, fields } = noun;
  const text = textOf(noun);
  return `
CSV has the columns ${listed(['id', ...fields.map(({ name }) => name)])}. NDJSON has one object per line, as in GET /v1/${plural}. Both are UTF-8.
${capitalized(text.plural)} are written as they are: a spreadsheet may run ${text.withArticle} such as =1+1 as a formula. With --safe-for-spreadsheets
it becomes '=1+1, and an import of that file keeps the apostrophe.
Imported into another project the file gives the same ${plural} in the same order, with new ids: an import ignores id.
${capitalized(plural)} are written in the order of their ids. ${capitalized(plural)} added after the start are left out.
The file appears when it is complete. Without --force an existing file stays unchanged.
Exit code: 0 all ${plural} exported, 1 refused or interrupted, 2 wrong usage.

Examples:
  $ petstore ${plural} export shop ${plural}.csv
  $ petstore ${plural} export shop --format ndjson | gzip > ${plural}.ndjson.gz
  $ petstore ${plural} export shop ${plural}.ndjson && petstore ${plural} import shop-2 ${plural}.ndjson`;
}

/** The values that can be formulas, in words. */
function textOf({ fields }: NounDescription): { withArticle: string; plural: string } {
  const [text, ...others] = fields.filter(({ kind }) => kind === 'text');
  if (text === undefined || others.length > 0) return { withArticle: 'a text', plural: 'texts' };
  return { withArticle: valueInWords(text), plural: `${text.name}s` };
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

async function runExport({ projects, filesOf }: Services, wanted: Export): Promise<number> {
  const { noun, slug, path, format, options, output } = wanted;
  const { exports } = filesOf(noun.plural);
  const lines = fileLines(noun.fields, format);
  const { id: projectId } = await projects.getBySlug(slug);
  const isShown = output.showsProgress && !(path === undefined && process.stdout.isTTY);
  const run = new LongRun(isShown);
  const { signal } = run;
  const target = path === undefined ? standardOutput(signal) : await newFile(path, options.force === true);
  const total = isShown ? await exports.count(projectId) : null;
  let exported = 0;
  let isKept = false;
  try {
    await target.write(lines.start);
    for await (const records of exports.pages(projectId, { signal, onWait: sayWaiting() })) {
      const shown = options.safeForSpreadsheets
        ? records.map((record) => withoutFormulas(record, noun.fields))
        : records;
      await target.write(shown.map(lines.line).join(''));
      exported += records.length;
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
  { noun, slug, path, format, output }: Export,
  { exported, isComplete, pace }: { exported: number; isComplete: boolean; pace: Pace },
): void {
  const end = isComplete
    ? `${grouped(exported)} exported in ${paceText(pace)}`
    : `Interrupted after ${grouped(exported)} ${noun.plural}.${path === undefined ? '' : ' No file was written.'}`;
  const file = isComplete ? path : null;
  if (path === undefined) output.note(end);
  else output.result({ project: slug, file, format, exported, complete: isComplete, ...pace }, end);
}
