import { randomUUID } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { Batches } from '../../ground/database/change-sequence.entity.js';
import type { Database } from '../../ground/database/database.js';
import { patiently } from '../../ground/database/database-errors.js';
import { withDrawnIds } from '../../ground/database/drawn-id.js';
import { insertRows } from '../../ground/database/insert-rows.js';
import type { Actor } from '../../ground/kernel/caller.js';
import { AppError } from '../../ground/kernel/errors.js';
import type { IdGenerator } from '../../ground/kernel/ids.js';
import type { AuditLog } from '../../tenants/audit/audit-log.js';
import { Pet } from '../pet.entity.js';
import { rowsOf } from '../pet.service.js';
import { PetBatch, type RefusedRow } from './pet-batch.js';
import type { PetFile } from './pet-file.js';
import { ImportedFile, PetImport } from './pet-import.entity.js';
import { BEGINNING } from './rows.js';

/** `again` = as `new`, also for a content that was imported before. */
export type BeginMode = 'new' | 'again' | 'resume' | 'restart';

interface BeginOptions {
  mode: BeginMode;
  /** The file and the project, as the user names them. */
  names: { path: string; slug: string };
  reportPath: string;
  /** Called with the stored state of the import before the claim; null = none. If it throws, nothing changes. */
  mayBegin(known: PetImport | null): void;
  onWait(): void;
}

export interface ImportWork {
  file: PetFile;
  /** The state from `begin`; `run` updates it. */
  progress: PetImport;
  /** Writes refused rows to disk, and returns the size of their file in bytes. */
  report(refused: RefusedRow[]): number;
  onProgress(progress: PetImport): void;
  /** Stops the import after the current batch. */
  signal: AbortSignal;
  /** Called, perhaps often, while the import waits for a locked or unavailable database. */
  onWait(): void;
}

/**
 * Imports the pets of a file into a project, in batches. The progress is stored in the same transaction as the pets, so a
 * killed import resumes exactly where it stopped. D-117.
 */
export class PetImportService {
  constructor(
    private readonly db: Database,
    private readonly ids: IdGenerator,
    private readonly audit: AuditLog,
    private readonly now: () => number,
  ) {}

  /**
   * Claims the file's import into the project, and returns its state; one to resume may be finished. A stream has no
   * identity: its import always begins, and is not stored. Throws `AppError conflict` that says what the user can do.
   */
  async begin(
    projectId: bigint,
    file: PetFile,
    { mode, names, reportPath, mayBegin, onWait }: BeginOptions,
  ): Promise<PetImport> {
    const { path, slug } = names;
    const identity = file.identity ?? { pathDigest: '', fingerprint: '' };
    const fresh: PetImport = {
      projectId,
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
    const key = { projectId, pathDigest: identity.pathDigest };
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
        `The import of ${path} into ${slug} stopped after line ${inGroups(line)}, with ${inGroups(imported)} pets imported. Use --resume to continue, or --restart to import the whole file again.`,
      );
    }
    if (!isUnfinished && mode !== 'again') {
      const { fingerprint } = identity;
      const before = await this.db.repository(ImportedFile).findOneBy({ projectId, fingerprint });
      if (before) {
        const at = new Date(before.finishedAtMs).toISOString();
        throw conflict(
          `The rows of ${path} were imported into ${slug} before, at ${at} (pets: ${inGroups(before.imported)}). Use --again to add them once more.`,
        );
      }
    }
    mayBegin(known);
    const claim = () =>
      this.db.transaction(async (manager) => {
        if (known) await manager.delete(PetImport, { ...key, runId: known.runId });
        await manager.insert(PetImport, { ...fresh });
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
    let batch = new PetBatch(progress);
    try {
      for await (const rows of file.rows({ line: progress.line, positionBytes: progress.positionBytes })) {
        for (const row of rows) {
          batch.add(row);
          if (!batch.isFull) continue;
          await this.store(batch, work, batches);
          batch = new PetBatch(progress);
          if (signal.aborted) return false;
        }
      }
      await this.store(batch, work, batches);
      await this.finish(actor, work);
      return true;
    } catch (error) {
      // The signal also ends a wait for the database, and for more from a stream.
      if (signal.aborted) return false;
      throw error;
    }
  }

  private get table() {
    return this.db.repository(PetImport);
  }

  private async store({ pets, refused, end }: PetBatch, work: ImportWork, batches: Batches): Promise<void> {
    const { progress } = work;
    if (pets.length + refused.length === 0) return;
    const next = {
      line: end.line,
      positionBytes: end.positionBytes,
      reportPath: progress.reportPath,
      imported: progress.imported + pets.length,
      refused: progress.refused + refused.length,
      // Written before the commit. If the commit fails, a resumed import truncates the file.
      reportBytes: refused.length > 0 ? work.report(refused) : progress.reportBytes,
    };
    await withDrawnIds(this.ids, pets.length, async (ids) => {
      const rows = rowsOf(progress.projectId, pets, { ids, createdAtMs: this.now() });
      const attempt = () =>
        batches.store(async (manager) => {
          await insertRows(manager, Pet, rows);
          if (work.file.identity) await this.advance(manager, progress, next);
        });
      await patiently(attempt, work);
    });
    Object.assign(progress, next);
    work.onProgress(progress);
  }

  /** Stores the progress, if no other process has changed it. */
  private async advance(manager: EntityManager, from: PetImport, next: Partial<PetImport>): Promise<void> {
    const { projectId, pathDigest, runId, line } = from;
    const { affected } = await manager.update(PetImport, { projectId, pathDigest, runId, line }, next);
    if (affected !== 1) throw conflict('Another process has taken over the import of this file.');
  }

  private async finish(actor: Actor, work: ImportWork): Promise<void> {
    const { file, progress } = work;
    const { projectId, pathDigest, fingerprint, runId, imported, refused } = progress;
    const attempt = () =>
      this.db.transaction(async (manager) => {
        if (file.identity) {
          const finishedAtMs = this.now();
          await manager.update(PetImport, { projectId, pathDigest, runId }, { finishedAtMs });
          const done = { projectId, fingerprint, imported, finishedAtMs };
          if (imported > 0) await manager.upsert(ImportedFile, done, ['projectId', 'fingerprint']);
        }
        const act = { action: 'pets.import', projectId, subject: file.name, detail: { imported, refused } };
        await this.audit.record(manager, actor, act);
      });
    await patiently(attempt, work);
  }
}

const conflict = (message: string) => new AppError('conflict', message);

/** As people read a number: `1,234,567`. */
function inGroups(count: number): string {
  return count.toLocaleString('en-US');
}
