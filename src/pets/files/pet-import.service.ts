import { randomUUID } from 'node:crypto';
import { type EntityManager, In } from 'typeorm';
import type { Database } from '../../ground/database/database.js';
import { isDuplicateId, patiently } from '../../ground/database/database-errors.js';
import { withDrawnIds } from '../../ground/database/drawn-id.js';
import { insertRows } from '../../ground/database/insert-rows.js';
import type { Actor } from '../../ground/kernel/caller.js';
import { AppError } from '../../ground/kernel/errors.js';
import type { IdGenerator } from '../../ground/kernel/ids.js';
import type { AuditLog } from '../../tenants/audit/audit-log.js';
import { Pet } from '../pet.entity.js';
import type { NewPet } from '../pet.rules.js';
import { PetBatch, type RefusedRow } from './pet-batch.js';
import type { PetFile } from './pet-file.js';
import { ImportedFile, PetImport } from './pet-import.entity.js';
import { BEGINNING } from './rows.js';

/** `again` = as `new`, also for a content that was imported before. */
export type BeginMode = 'new' | 'again' | 'resume' | 'restart';

interface BeginOptions {
  mode: BeginMode;
  reportPath: string;
  /** Called with the stored state of the import before the claim; null = none. If it throws, nothing changes. */
  mayBegin(known: PetImport | null): void;
  onWait(): void;
}

/** `begun`: the import can run. Every other state is the reason why it can't. */
export type Beginning =
  | { state: 'begun' | 'complete' | 'unfinished'; progress: PetImport }
  | { state: 'repeated'; before: ImportedFile }
  | { state: 'unknown' | 'changed' };

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

  /** Claims the file's import into the project. A stream has no identity: its import always begins, and is not stored. */
  async begin(
    projectId: bigint,
    file: PetFile,
    { mode, reportPath, mayBegin, onWait }: BeginOptions,
  ): Promise<Beginning> {
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
      return { state: 'begun', progress: fresh };
    }
    const key = { projectId, pathDigest: identity.pathDigest };
    const known = await this.table.findOneBy(key);

    if (mode === 'resume') {
      if (!known) return { state: 'unknown' };
      if (known.fingerprint !== identity.fingerprint) return { state: 'changed' };
      if (known.finishedAtMs !== null) return { state: 'complete', progress: known };
      mayBegin(known);
      // Read after the claim: until then the previous process may still commit a batch.
      await patiently(() => this.db.write(() => this.table.update(key, { runId: fresh.runId })), { onWait });
      return { state: 'begun', progress: await this.table.findOneByOrFail(key) };
    }
    const isUnfinished = known?.finishedAtMs === null && known.line > 0;
    if (isUnfinished && mode !== 'restart') return { state: 'unfinished', progress: known };
    if (!isUnfinished && mode !== 'again') {
      const { fingerprint } = identity;
      const before = await this.db.repository(ImportedFile).findOneBy({ projectId, fingerprint });
      if (before) return { state: 'repeated', before };
    }
    mayBegin(known);
    const claim = () =>
      this.db.transaction(async (manager) => {
        if (known) await manager.delete(PetImport, { ...key, runId: known.runId });
        await manager.insert(PetImport, { ...fresh });
      });
    await patiently(claim, { onWait });
    return { state: 'begun', progress: fresh };
  }

  /**
   * Imports the file from `progress` on. Resolves to false when the signal stopped it before the end.
   * Throws `AppError conflict` when another process has taken over the import.
   */
  async run(actor: Actor, work: ImportWork): Promise<boolean> {
    const { file, progress, signal } = work;
    let batch = new PetBatch(progress);
    try {
      for await (const rows of file.rows({ line: progress.line, positionBytes: progress.positionBytes })) {
        for (const row of rows) {
          batch.add(row);
          if (!batch.isFull) continue;
          await this.store(batch, work);
          batch = new PetBatch(progress);
          if (signal.aborted) return false;
        }
      }
      await this.store(batch, work);
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

  private async store({ pets, refused, end }: PetBatch, work: ImportWork): Promise<void> {
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
    await this.commit(pets, work, next);
    Object.assign(progress, next);
    work.onProgress(progress);
  }

  private async commit(pets: NewPet[], work: ImportWork, next: Partial<PetImport>): Promise<void> {
    const { progress } = work;
    const { projectId } = progress;
    await withDrawnIds(this.ids, pets.length, async (ids) => {
      const createdAtMs = this.now();
      const rows = pets.map((pet, index) => ({ projectId, id: ids[index] as bigint, ...pet, createdAtMs }));
      // The same ids at every attempt: if an attempt was committed but its answer lost, the next fails on the ids.
      const attempt = () =>
        this.db.transaction(async (manager) => {
          await insertRows(manager, Pet, rows);
          if (work.file.identity) await this.advance(manager, progress, next);
        });
      try {
        await patiently(attempt, work);
      } catch (error) {
        if (!isDuplicateId(error) || !(await patiently(() => this.areStored(rows), work))) throw error;
      }
    });
  }

  private async areStored(rows: Pet[]): Promise<boolean> {
    const projectId = rows[0]?.projectId as bigint;
    const ids = rows.map(({ id }) => id);
    return (await this.db.repository(Pet).countBy({ projectId, id: In(ids) })) === rows.length;
  }

  /** Stores the progress, if no other process has changed it. */
  private async advance(manager: EntityManager, from: PetImport, next: Partial<PetImport>): Promise<void> {
    const { projectId, pathDigest, runId, line } = from;
    const mine = { projectId, pathDigest, runId };
    const { affected } = await manager.update(PetImport, { ...mine, line }, next);
    if (affected === 1) return;
    // An earlier attempt committed a batch with only refused rows, but its answer was lost.
    if (await manager.findOneBy(PetImport, { ...mine, line: next.line as number })) return;
    throw new AppError('conflict', 'Another process has taken over the import of this file.');
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
