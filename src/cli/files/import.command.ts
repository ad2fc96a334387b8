import { basename, parse, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { Gateway } from '../../app/gateway.js';
import type { Services } from '../../app/services.js';
import { listed } from '../../noun-words.js';
import type { NounDescription } from '../../nouns.js';
import type { FileImport } from '../../tenants/files/import.entity.js';
import type { ImportService } from '../../tenants/files/import.service.js';
import { openRecordFile, type RecordFile } from '../../tenants/files/record-file.js';
import type { RefusedRow } from '../../tenants/files/row-batch.js';
import { formatOfName } from '../../tenants/files/rows.js';
import { LongRun, paceText, sayWaiting } from '../long-run.js';
import { EXIT, grouped, type Output } from '../output.js';
import { commandLineActor, withServices } from '../session.js';
import { RefusedFile } from './refused-file.js';

/** Refused rows on the screen; their file has all of them. */
const SHOWN_REFUSED = 20;

interface ImportOptions {
  again?: boolean;
  resume?: boolean;
  restart?: boolean;
  refused?: string;
}

export function importCommand(
  group: Command,
  gateway: Gateway,
  noun: NounDescription,
  output: Output,
  stdin: Readable,
): void {
  const { plural } = noun;
  group
    .command('import <slug> <file>')
    .description(
      `Import ${plural} from a CSV or NDJSON file, or from - (standard input). Refused rows go to a file of the same format.`,
    )
    .option('--again', `import a file whose content was imported before: its ${plural} are added once more`)
    .option('--resume', 'continue an interrupted import of this file')
    .option('--restart', `start an interrupted import again; ${plural} that it has imported stay`)
    .option('--refused <file>', `the file of refused rows (default: ${plural}.refused.csv for ${plural}.csv)`)
    .addHelpText('after', importHelp(noun))
    .action(async (slug: string, path: string, options: ImportOptions, command: Command) => {
      const problem = usageProblem(path, options);
      if (problem) command.error(`error: ${problem}`);
      const file = await openRecordFile(path, stdin, noun.fields);
      try {
        const unfit = unfitProblem(path, options, file);
        if (unfit) command.error(`error: ${unfit}`);
        output.exitCode = await withServices(gateway, (services) =>
          runImport(services, { noun, slug, path, options, file, output, onWait: sayWaiting() }),
        );
      } finally {
        file.stop();
      }
    });
}

function importHelp({ singular, plural, fields }: NounDescription): string {
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const optional = fields.filter(({ isRequired }) => !isRequired).map(({ name }) => name);
  const columns = optional.length === 0 ? required : [...required, `optionally ${listed(optional)}`];
  return `
CSV needs a header line with ${listed(columns)}, in any order; other columns are ignored.
NDJSON has one object per line, as in POST /v1/${plural}. Both are UTF-8.
Every ${singular} gets a new id: an id in the file, as ${plural} export writes it, is ignored.
A refused row is written with its line number and reason as problem; the other rows are imported.
Correct the file of refused rows and import it: the column or field problem is ignored.
After Ctrl-C, a crash or a power failure, --resume continues without losing or repeating a row.
Exit code: 0 all rows imported, 1 some were refused, the file has none, or the import did not finish, 2 wrong usage.

Examples:
  $ petstore ${plural} import shop ${plural}.csv
  $ petstore ${plural} import shop ${plural}.refused.csv   # after the refused rows were corrected
  $ petstore ${plural} import shop ${plural}.csv --resume
  $ zcat ${plural}.ndjson.gz | petstore ${plural} import shop - --refused refused.ndjson`;
}

function usageProblem(path: string, { again, resume, restart, refused }: ImportOptions): string | null {
  if ([again, resume, restart].filter(Boolean).length > 1)
    return 'only one of --again, --resume and --restart can be used';
  if (resume && path === '-') return "standard input can't be read again, so --resume can't be used";
  if (refused !== undefined && resolve(refused) === resolve(path))
    return '--refused is the imported file itself';
  return null;
}

/** As `usageProblem`, for what only the opened file shows. */
function unfitProblem(
  path: string,
  { resume, refused = '' }: ImportOptions,
  file: RecordFile,
): string | null {
  if (resume && !file.identity)
    return `${path} is a stream: it can't be read again, so --resume can't be used`;
  const format = formatOfName(refused);
  if (format === null || format === file.format) return null;
  return `--refused names a file of the format ${format}, but ${path} is ${file.format}`;
}

interface Import {
  noun: NounDescription;
  slug: string;
  path: string;
  options: ImportOptions;
  file: RecordFile;
  output: Output;
  onWait: () => void;
}

async function runImport({ projects, filesOf }: Services, wanted: Import): Promise<number> {
  const { imports } = filesOf(wanted.noun.plural);
  const project = await projects.getBySlug(wanted.slug);
  const progress = await begin(imports, project.id, wanted);
  const before = { ...progress };
  const ended = progress.finishedAtMs === null ? await importRows(imports, progress, wanted) : NOTHING_LEFT;
  summarize(wanted, { ...ended, before, progress });
  // A file without rows is a mistake that a script must notice.
  return ended.isComplete && progress.refused === 0 && progress.imported > 0 ? EXIT.ok : EXIT.refused;
}

/** The import's state. Throws `AppError conflict` that says what the user can do. */
async function begin(
  imports: ImportService,
  projectId: bigint,
  { slug, path, options, file, onWait }: Import,
): Promise<FileImport> {
  const { again, resume, restart } = options;
  const mode = again ? 'again' : resume ? 'resume' : restart ? 'restart' : 'new';
  const reportPath = resolve(options.refused ?? refusedPath(path, file));
  const mayBegin = (known: FileImport | null) => {
    const isGoingOn = mode === 'resume' && options.refused === undefined;
    RefusedFile.check(isGoingOn && known ? known.reportPath : reportPath, file, known);
  };
  const begun = await imports.begin(projectId, file, {
    mode,
    names: { path, slug },
    reportPath,
    mayBegin,
    onWait,
  });
  const isElsewhere = options.refused !== undefined && begun.reportPath !== reportPath;
  return isElsewhere && begun.finishedAtMs === null ? { ...begun, reportPath, reportBytes: 0 } : begun;
}

const NOTHING_LEFT = { isComplete: true, pace: { seconds: 0, rowsPerSecond: 0 } };

type Ended = typeof NOTHING_LEFT;

async function importRows(
  imports: ImportService,
  progress: FileImport,
  { file, output, onWait }: Import,
): Promise<Ended> {
  const refusedFile = new RefusedFile(progress.reportPath, file, progress.reportBytes);
  const { imported, refused, positionBytes } = progress;
  /** The rows of this run: those of earlier runs do not count for the speed. */
  const rows = () => progress.imported + progress.refused - imported - refused;
  const run = new LongRun(output.showsProgress);
  if (!file.identity) run.signal.addEventListener('abort', file.stop);
  const tell = tellRefused(run, output, progress.reportPath);
  let isComplete = false;
  try {
    isComplete = await imports.run(commandLineActor(), {
      file,
      progress,
      signal: run.signal,
      onWait,
      report: (refused) => {
        tell(refused);
        return refusedFile.append(refused);
      },
      onProgress: () => {
        const leftBytes = file.sizeBytes && file.sizeBytes - positionBytes;
        run.update(rows(), progress.positionBytes - positionBytes, leftBytes);
      },
    });
  } finally {
    run.end();
    refusedFile.close();
  }
  return { isComplete, pace: run.pace(rows()) };
}

/** `shop.refused.csv` for `shop.csv`, so that its import finds the format in its name. */
function refusedPath(path: string, { identity, format }: RecordFile): string {
  if (!identity) return `stdin.refused.${format}`;
  const { ext } = parse(path);
  return formatOfName(path) ? `${path.slice(0, -ext.length)}.refused${ext}` : `${path}.refused.${format}`;
}

function tellRefused(run: LongRun, output: Output, reportPath: string) {
  let told = 0;
  return (refused: readonly RefusedRow[]): void => {
    if (output.isJson) return;
    for (const { problem } of refused.slice(0, Math.max(0, SHOWN_REFUSED - told))) run.print(problem);
    if (told <= SHOWN_REFUSED && told + refused.length > SHOWN_REFUSED) {
      run.print(`More refused rows are in ${reportPath}`);
    }
    told += refused.length;
  };
}

/** Prints what an import did, in this run and in all runs. `before` is its state at the start of this run. */
function summarize(
  { noun, slug, path, file, output }: Import,
  { before, progress, isComplete, pace }: Ended & { before: FileImport; progress: FileImport },
): void {
  const imported = progress.imported - before.imported;
  const refused = progress.refused - before.refused;
  const { imported: allImported, refused: allRefused, line } = progress;
  const refusedFile = allRefused > 0 ? progress.reportPath : null;
  const isResumed = before.line > 0;

  const lines = [`${grouped(imported)} imported, ${grouped(refused)} refused in ${paceText(pace)}`];
  if (before.finishedAtMs !== null) lines.unshift(`${path} was already imported completely.`);
  if (isComplete && allImported + allRefused === 0) lines.push(`Nothing was imported: ${path} has no rows.`);
  if (isResumed)
    lines.push(`Including earlier runs: ${grouped(allImported)} imported, ${grouped(allRefused)} refused`);
  if (refusedFile) {
    lines.push(`Refused rows: ${refusedFile}`);
    if (isComplete) lines.push(`Correct them, then: petstore ${noun.plural} import ${slug} ${refusedFile}`);
  }
  if (!isComplete) {
    lines.push(`Interrupted after line ${grouped(line)}.`);
    if (file.identity) lines.push(`Continue with: petstore ${noun.plural} import ${slug} ${path} --resume`);
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
    ...pace,
  };
  output.result(json, lines.join('\n'));
}
