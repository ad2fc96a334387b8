import { randomUUID } from 'node:crypto';
import { type EntityManager, In } from 'typeorm';
import { Batches } from '../../ground/database/change-sequence.entity.js';
import type { Database } from '../../ground/database/database.js';
import { isDuplicate, isDuplicateId, patiently } from '../../ground/database/database-errors.js';
import { withDrawnIds } from '../../ground/database/drawn-id.js';
import { insertRows } from '../../ground/database/insert-rows.js';
import type { Actor } from '../../ground/kernel/caller.js';
import { AppError } from '../../ground/kernel/errors.js';
import type { IdGenerator } from '../../ground/kernel/ids.js';
import { Imports1780000005000 } from '../../ground/migrations/1780000005000-imports.js';
import type { ChangeFeeds } from '../../ground/records/change-feed.js';
import { NounChanges } from '../../ground/records/noun-changes.js';
import { created, needing } from '../../ground/records/record-table.js';
import type { AuditLog } from '../audit/audit-log.js';
import { FileImport, ImportedContent } from './import.entity.js';
import type { NounFiles, RecordRow } from './noun-files.js';
import type { RecordFile } from './record-file.js';
import { type RefusedRow, RowBatch } from './row-batch.js';
import { BEGINNING } from './rows.js';

/** `again` = as `new`, also for a content that was imported before. */
export type BeginMode = 'new' | 'again' | 'resume' | 'restart';

interface BeginOptions {
  mode: BeginMode;
  /** The file and the project, as the user names them. */
  names: { path: string; slug: string };
  reportPath: string;
  /** Called with the stored state of the import before the claim; null = none. If it throws, nothing changes. */
  mayBegin(known: FileImport | null): void;
  onWait(): void;
}

export interface ImportWork {
  file: RecordFile;
  /** The state from `begin`; `run` updates it. */
  progress: FileImport;
  /** Writes refused rows to disk, and returns the size of their file in bytes. */
  report(refused: RefusedRow[]): number;
  onProgress(progress: FileImport): void;
  /** Stops the import after the current batch. */
  signal: AbortSignal;
  /** Called, perhaps often, while the import waits for a locked or unavailable database. */
  onWait(): void;
}

/**
 * Imports the records of a file into a project, in batches. The progress is stored in the same transaction as the records,
 * so a killed import resumes exactly where it stopped. D-117.
 */
export class ImportService {
  static readonly schema = { entities: [FileImport, ImportedContent], migrations: [Imports1780000005000] };
  constructor(
    private readonly db: Database,
    private readonly noun: NounFiles,
    private readonly shared: { ids: IdGenerator; audit: AuditLog; changes: ChangeFeeds },
    private readonly now: () => number,
  ) {}

  /**
   * Claims the file's import into the project, and returns its state; one to resume may be finished. A stream has no
   * identity: its import always begins, and is not stored. Throws `AppError conflict` that says what the user can do.
   */
  async begin(
    projectId: bigint,
    file: RecordFile,
    { mode, names, reportPath, mayBegin, onWait }: BeginOptions,
  ): Promise<FileImport> {
    const { path, slug } = names;
    const identity = file.identity ?? { pathDigest: '', fingerprint: '' };
    const noun = this.plural;
    const fresh: FileImport = {
      projectId,
      noun,
      ...identity,
      ...BEGINNING,
      runId: randomUUID(),
      imported: 0,
      refused: 0,
      reportBytes: 0,
      reportPath,
      finishedAtMs: null,
    };
    if (!file.identity) {
      mayBegin(null);
      return fresh;
    }
    const key = { projectId, noun, pathDigest: identity.pathDigest };
    const known = await this.table.findOneBy(key);

    if (mode === 'resume') {
      if (!known) throw conflict(`There is no import of ${path} into ${slug} to resume. Omit --resume.`);
      if (known.fingerprint !== identity.fingerprint) {
        throw conflict(
          `${path} has changed since its import was interrupted, so its new rows are unknown. Restore the file, or use --restart to import all of it.`,
        );
      }
      if (known.finishedAtMs !== null) return known;
      mayBegin(known);
      // Read after the claim: until then the previous process may still commit a batch.
      await patiently(() => this.db.write(() => this.table.update(key, { runId: fresh.runId })), { onWait });
      return this.table.findOneByOrFail(key);
    }
    const isUnfinished = known?.finishedAtMs === null && known.line > 0;
    if (isUnfinished && mode !== 'restart') {
      const { line, imported } = known;
      throw conflict(
        `The import of ${path} into ${slug} stopped after line ${inGroups(line)}, with ${inGroups(imported)} ${noun} imported. Use --resume to continue, or --restart to import the whole file again.`,
      );
    }
    if (!isUnfinished && mode !== 'again') {
      const { fingerprint } = identity;
      const before = await this.db.repository(ImportedContent).findOneBy({ projectId, noun, fingerprint });
      if (before) {
        const at = new Date(before.finishedAtMs).toISOString();
        throw conflict(
          `The rows of ${path} were imported into ${slug} before, at ${at} (${noun}: ${inGroups(before.imported)}). Use --again to add them once more.`,
        );
      }
    }
    mayBegin(known);
    const claim = () =>
      this.db.transaction(async (manager) => {
        // Its own row, too: the answer of an earlier attempt's COMMIT may be lost.
        const runId = In([fresh.runId, ...(known ? [known.runId] : [])]);
        await manager.delete(FileImport, { ...key, runId });
        await manager.insert(FileImport, { ...fresh });
      });
    await patiently(claim, { onWait });
    return fresh;
  }

  /**
   * Imports the file from `progress` on. Resolves to false when the signal stopped it before the end.
   * Throws `AppError conflict` when another process has taken over the import.
   */
  async run(actor: Actor, work: ImportWork): Promise<boolean> {
    const { file, progress, signal } = work;
    const batches = new Batches(this.db, this.now);
    let batch = new RowBatch(this.noun, progress);
    try {
      for await (const rows of file.rows({ line: progress.line, positionBytes: progress.positionBytes })) {
        for (const row of rows) {
          batch.add(row);
          if (!batch.isFull) continue;
          await this.store(batch, work, batches);
          batch = new RowBatch(this.noun, progress);
          if (signal.aborted) return false;
        }
      }
      await this.store(batch, work, batches);
      await this.finish(actor, work, batches);
      return true;
    } catch (error) {
      // The signal also ends a wait for the database, and for more from a stream.
      if (signal.aborted) return false;
      throw error;
    }
  }

  private get plural(): string {
    return this.noun.description.plural;
  }

  private get table() {
    return this.db.repository(FileImport);
  }

  private async store(batch: RowBatch, work: ImportWork, batches: Batches): Promise<void> {
    const { progress } = work;
    await patiently(() => batch.refuseConflicts(progress.projectId), work);
    const { records, refused, end } = batch;
    if (records.length + refused.length === 0) return;
    const next = {
      line: end.line,
      positionBytes: end.positionBytes,
      reportPath: progress.reportPath,
      imported: progress.imported + records.length,
      refused: progress.refused + refused.length,
      // Written before the commit. If the commit fails, a resumed import truncates the file.
      reportBytes: refused.length > 0 ? work.report(refused) : progress.reportBytes,
    };
    await withDrawnIds(this.shared.ids, records.length, async (ids) => {
      const rows = this.rowsOf(progress, records, ids);
      const { log } = this.shared.changes;
      const changes = new NounChanges(this.noun.entity, this.db, this.shared.changes);
      const written = rows.flatMap((after) => changes.written({ before: null, after }));
      const attempt = () =>
        batches.store(async (manager) => {
          await this.noun.preparationOf?.(progress.projectId, rows)?.run(manager, null);
          await insertRows(manager, this.noun.entity, rows);
          const planned = { created: rows, nameOf: undefined };
          await needing(this.noun.besides ?? [], planned)?.(manager, created(rows));
          if (work.file.identity) await this.advance(manager, progress, next);
          await log.append(manager, progress.projectId, written);
        });
      await patiently(() => log.announcing(progress.projectId, attempt), work).catch((error) =>
        refuseLateConflict(error, work),
      );
    });
    Object.assign(progress, next);
    work.onProgress(progress);
  }

  private rowsOf({ projectId }: FileImport, records: readonly object[], ids: readonly bigint[]): RecordRow[] {
    const createdAtMs = this.now();
    return records.map((record, at) => ({ projectId, id: ids[at] as bigint, ...record, createdAtMs }));
  }

  /** Stores the progress, if no other process has changed it. */
  private async advance(manager: EntityManager, from: FileImport, next: Partial<FileImport>): Promise<void> {
    const { projectId, noun, pathDigest, runId, line } = from;
    const { affected } = await manager.update(FileImport, { projectId, noun, pathDigest, runId, line }, next);
    if (affected !== 1) throw conflict('Another process has taken over the import of this file.');
  }

  private async finish(actor: Actor, work: ImportWork, batches: Batches): Promise<void> {
    const { file, progress } = work;
    const { projectId, noun, pathDigest, fingerprint, runId, imported, refused } = progress;
    const attempt = () =>
      batches.store(async (manager) => {
        if (file.identity) {
          const finishedAtMs = this.now();
          await manager.update(FileImport, { projectId, noun, pathDigest, runId }, { finishedAtMs });
          const done = { projectId, noun, fingerprint, imported, finishedAtMs };
          if (imported > 0) await manager.upsert(ImportedContent, done, ['projectId', 'noun', 'fingerprint']);
        }
        const act = {
          action: `${noun}.import`,
          projectId,
          subject: file.name,
          detail: { imported, refused },
        };
        await this.shared.audit.record(manager, actor, act);
      });
    await patiently(attempt, work);
  }
}

/** Another writer has stored a value, or deleted a record, meanwhile. Nothing of the batch is stored, so the next attempt refuses its row. */
function refuseLateConflict(error: unknown, { file, progress }: ImportWork): never {
  const isLate = error instanceof AppError && error.code === 'invalid_request';
  if (!isLate && (!isDuplicate(error) || isDuplicateId(error))) throw error;
  const advice = file.identity
    ? 'Use --resume to continue'
    : `Import the rows after line ${progress.line} again`;
  const what = isLate
    ? 'deleted a record that this file refers to'
    : 'created a record with a value of this file';
  throw conflict(`Another request has just ${what}. ${advice}.`);
}

const conflict = (message: string) => new AppError('conflict', message);

/** As people read a number: `1,234,567`. */
const inGroups = (count: number) => count.toLocaleString('en-US');
