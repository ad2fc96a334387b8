import { basename, resolve } from 'node:path';
import type { Command } from 'commander';
import { commandLineActor } from '../audit/audit-log.js';
import { AppError } from '../errors.js';
import type { PetImport } from '../pets/pet-import.entity.js';
import type { BeginMode } from '../pets/pet-import.service.js';
import type { RefusedRow } from '../pets/pet-import-batch.js';
import { openPetFile, type PetFile } from '../pets/pet-import-file.js';
import type { Services } from '../services.js';
import { EXIT, grouped, type Output } from './output.js';
import { ProgressBar } from './progress-bar.js';
import { RefusedReport } from './refused-report.js';
import { withServices } from './session.js';

/** More on the screen would hide the rest; the file has all of them. */
const SHOWN_REFUSED = 20;

interface ImportOptions {
  resume?: boolean;
  restart?: boolean;
  refused?: string;
}

export function petsCommands(program: Command, output: Output): void {
  program
    .command('pets')
    .description('Pets of a project.')
    .command('import <slug> <file>')
    .description(
      'Import pets from a CSV or NDJSON file, or from - (standard input). Rows that are refused are reported.',
    )
    .option('--resume', 'go on with an interrupted import of this file')
    .option('--restart', 'begin an interrupted import again; what it has imported stays')
    .option('--refused <file>', 'where refused rows go (default: <file>.refused.ndjson)')
    .addHelpText(
      'after',
      `
CSV needs a header line that names name, categoryId and, if wanted, status, in any order; other columns are ignored.
NDJSON is one object a line, as POST /v1/pets takes it. Both are UTF-8.
Each refused row is written as {"line","errors","row"}; the other rows are imported.
After Ctrl-C, a crash or a power cut, --resume goes on without losing or repeating a row.
Exit code: 0 all rows imported, 1 some were refused or the import was interrupted, 2 wrong usage.

Examples:
  $ petstore pets import shop pets.csv
  $ petstore pets import shop pets.csv --resume
  $ zcat pets.ndjson.gz | petstore pets import shop - --refused refused.ndjson
  $ jq -c .row pets.csv.refused.ndjson   # the refused rows, to correct`,
    )
    .action(async (slug: string, path: string, options: ImportOptions, command: Command) => {
      const problem = usageProblem(path, options);
      if (problem) command.error(`error: ${problem}`);
      const file = await openPetFile(path);
      if (options.resume && !file.identity) {
        command.error(`error: ${path} is a stream: it can't be read again, so --resume can't be used`);
      }
      try {
        process.exitCode = await withServices((services) =>
          runImport(services, { slug, path, options, file, output, onWait: sayWaiting() }),
        );
      } finally {
        file.stop();
      }
    });
}

function usageProblem(path: string, { resume, restart, refused }: ImportOptions): string | null {
  if (resume && restart) return '--resume and --restart exclude each other';
  if (resume && path === '-') return "standard input can't be read again, so --resume can't be used";
  if (refused !== undefined && resolve(refused) === resolve(path))
    return '--refused names the imported file itself';
  return null;
}

interface Import {
  slug: string;
  path: string;
  options: ImportOptions;
  file: PetFile;
  output: Output;
  onWait: () => void;
}

async function runImport({ projects, petImports }: Services, wanted: Import): Promise<number> {
  const { slug, options, file, output } = wanted;
  const project = await projects.getBySlug(slug);
  const mode = options.resume ? 'resume' : options.restart ? 'restart' : 'new';
  const progress = await begin(petImports, project.id, mode, wanted);
  const before = { ...progress };
  if (progress.finishedAtMs !== null) {
    summarize(wanted, { before, progress, isComplete: true, seconds: 0 });
    return progress.refused === 0 ? EXIT.ok : EXIT.refused;
  }
  const report = RefusedReport.open(progress.reportPath, progress.reportBytes);
  const start = { rows: before.imported + before.refused, bytes: before.positionBytes };
  const bar = new ProgressBar(process.stderr, start, process.stderr.isTTY && !output.isJson);
  const tell = tellRefused(bar, output, progress.reportPath);
  const { signal, release } = signalOfUser(file);
  const startedAtMs = performance.now();
  let isComplete = false;
  try {
    isComplete = await petImports.run(commandLineActor(), {
      file,
      progress,
      signal,
      onWait: wanted.onWait,
      report: (refused) => {
        tell(refused);
        return report.append(refused);
      },
      onProgress: ({ imported, refused, positionBytes: doneBytes }) =>
        bar.update({ rows: imported + refused, doneBytes, totalBytes: file.sizeBytes }),
    });
  } finally {
    release();
    bar.clear();
    report.close();
  }
  summarize(wanted, { before, progress, isComplete, seconds: (performance.now() - startedAtMs) / 1000 });
  return isComplete && progress.refused === 0 ? EXIT.ok : EXIT.refused;
}

/** The import's state, or an `AppError` that says what the user can do. */
async function begin(
  petImports: Services['petImports'],
  projectId: bigint,
  mode: BeginMode,
  { slug, path, options, file, onWait }: Import,
): Promise<PetImport> {
  const fallback = file.identity ? `${path}.refused.ndjson` : 'stdin.refused.ndjson';
  const reportPath = resolve(options.refused ?? fallback);
  const mayBegin = (known: PetImport | null) => {
    const isGoingOn = mode === 'resume' && options.refused === undefined;
    RefusedReport.check(isGoingOn && known ? known.reportPath : reportPath, known);
  };
  const beginning = await petImports.begin(projectId, file, { mode, reportPath, mayBegin, onWait });
  const refuse = (message: string): never => {
    throw new AppError('conflict', message);
  };
  switch (beginning.state) {
    case 'unknown':
      return refuse(`No import of ${path} into ${slug} has begun. Leave out --resume.`);
    case 'changed':
      return refuse(
        `${path} has changed since its import was interrupted, so nobody can say which rows are new. Restore it, or use --restart to import the whole file.`,
      );
    case 'unfinished': {
      const { line, imported } = beginning.progress;
      return refuse(
        `The import of ${path} into ${slug} stopped after line ${grouped(line)}, with ${grouped(imported)} pets imported. Use --resume to go on, or --restart to import the whole file again.`,
      );
    }
    case 'complete':
      return beginning.progress;
    case 'begun': {
      const { progress } = beginning;
      const isElsewhere = options.refused !== undefined && progress.reportPath !== reportPath;
      return isElsewhere ? { ...progress, reportPath, reportBytes: 0 } : progress;
    }
  }
}

/** Ctrl-C, or SIGTERM, ends the import after the batch in hand; a second one at once, which does no harm either. */
function signalOfUser(file: PetFile) {
  const controller = new AbortController();
  const stop = () => {
    controller.abort();
    if (!file.identity) file.stop();
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  const release = () => {
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  };
  return { signal: controller.signal, release };
}

function tellRefused(bar: ProgressBar, output: Output, reportPath: string) {
  let told = 0;
  return (refused: readonly RefusedRow[]): void => {
    if (output.isJson) return;
    for (const { line, errors } of refused.slice(0, Math.max(0, SHOWN_REFUSED - told))) {
      bar.print(`line ${line}: ${errors.map(({ field, message }) => `${field} ${message}`).join('; ')}`);
    }
    if (told <= SHOWN_REFUSED && told + refused.length > SHOWN_REFUSED) {
      bar.print(`More refused rows are not shown here; all are in ${reportPath}`);
    }
    told += refused.length;
  };
}

interface Ended {
  before: PetImport;
  progress: PetImport;
  isComplete: boolean;
  seconds: number;
}

function summarize(
  { slug, path, file, output }: Import,
  { before, progress, isComplete, seconds }: Ended,
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
  if (before.finishedAtMs !== null) lines.unshift(`${path} was imported already, to its end.`);
  if (isResumed)
    lines.push(`With the earlier runs: ${grouped(allImported)} imported, ${grouped(allRefused)} refused`);
  if (refusedFile) lines.push(`Refused rows: ${refusedFile}`);
  if (!isComplete) {
    lines.push(`Interrupted after line ${grouped(line)}.`);
    if (file.identity) lines.push(`Go on with: petstore pets import ${slug} ${path} --resume`);
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

/** Says once, on standard error, why nothing moves. */
function sayWaiting(): () => void {
  let isSaid = false;
  return () => {
    if (!isSaid)
      process.stderr.write('The database is locked or away. Waiting for it, for up to a minute.\n');
    isSaid = true;
  };
}
