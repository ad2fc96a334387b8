import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EntityManager, In } from 'typeorm';
import type { Actor, AuditLog } from '../audit/audit-log.js';
import type { Database } from '../database/database.js';
import { isDuplicateId, unavailableIfDatabaseAway } from '../database/database-errors.js';
import { withDrawnIds } from '../database/drawn-id.js';
import { AppError } from '../errors.js';
import type { IdGenerator } from '../ids.js';
import { Pet } from './pet.entity.js';
import type { NewPet } from './pet.rules.js';
import { PetImport } from './pet-import.entity.js';
import { PetBatch, type RefusedRow } from './pet-import-batch.js';
import type { PetFile } from './pet-import-file.js';
import { BEGINNING } from './pet-import-lines.js';
import { insertPets } from './pet-insert.js';

/** For how long a batch is tried again while the database is locked or away. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 100;

export type BeginMode = 'new' | 'resume' | 'restart';

interface BeginOptions {
  mode: BeginMode;
  reportPath: string;
  /** Is given what is stored of the file's import before it is claimed; what it throws leaves everything as it is. */
  mayBegin(known: PetImport | null): void;
  onWait(): void;
}

/** `begun`: work on it. Every other state says why there is nothing to work on. */
export type Beginning =
  | { state: 'begun' | 'complete' | 'unfinished'; progress: PetImport }
  | { state: 'unknown' | 'changed' };

export interface ImportWork {
  file: PetFile;
  /** From `begin`; kept up to date. */
  progress: PetImport;
  /** Writes refused rows down for good, and returns the size of the report in bytes. */
  report(refused: RefusedRow[]): number;
  onProgress(progress: PetImport): void;
  /** Stops after the batch in hand. */
  signal: AbortSignal;
  /** The database is locked or away, and is waited for. May be called often. */
  onWait(): void;
}

/**
 * Brings the pets of a file into a project, in batches. How far it has come is stored in the same transaction as the pets,
 * so an import that was killed goes on exactly where it stopped.
 */
export class PetImportService {
  constructor(
    private readonly db: Database,
    private readonly ids: IdGenerator,
    private readonly audit: AuditLog,
    private readonly now: () => number,
  ) {}

  /** Claims the file's import into the project. A stream has no identity: it always begins, and leaves no trace. */
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
      // Read after the claim: until then the process that had the file may still commit a batch.
      await patiently(() => this.db.write(() => this.table.update(key, { runId: fresh.runId })), { onWait });
      return { state: 'begun', progress: await this.table.findOneByOrFail(key) };
    }
    const isUnfinished = known?.finishedAtMs === null && known.line > 0;
    if (isUnfinished && mode === 'new') return { state: 'unfinished', progress: known };
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
   * Works through the file from where `progress` stands. Resolves to false when the signal stopped it before the end.
   * Throws `AppError conflict` when another process has taken the import over.
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
      // Before the commit, and cut off again by a resumed import when there was none.
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
      // The same ids at every attempt: one that was committed, though the answer got lost, refuses the next.
      const attempt = () =>
        this.db.transaction(async (manager) => {
          await insertPets(manager, rows);
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

  /** Moves the marker, if it is still where this process left it. */
  private async advance(manager: EntityManager, from: PetImport, next: Partial<PetImport>): Promise<void> {
    const { projectId, pathDigest, runId, line } = from;
    const mine = { projectId, pathDigest, runId };
    const { affected } = await manager.update(PetImport, { ...mine, line }, next);
    if (affected === 1) return;
    // A batch of refused rows only, committed by an attempt whose answer got lost.
    if (await manager.findOneBy(PetImport, { ...mine, line: next.line as number })) return;
    throw new AppError('conflict', 'Another process has taken over the import of this file.');
  }

  private async finish(actor: Actor, work: ImportWork): Promise<void> {
    const { file, progress } = work;
    const { projectId, pathDigest, runId, imported, refused } = progress;
    const attempt = () =>
      this.db.transaction(async (manager) => {
        if (file.identity) {
          const finishedAtMs = this.now();
          await manager.update(PetImport, { projectId, pathDigest, runId }, { finishedAtMs });
        }
        const act = { action: 'pets.import', projectId, subject: file.name, detail: { imported, refused } };
        await this.audit.record(manager, actor, act);
      });
    await patiently(attempt, work);
  }
}

/** Runs `work` again while the database is locked or away. */
async function patiently<T>(
  work: () => Promise<T>,
  { onWait, signal }: { onWait: () => void; signal?: AbortSignal },
): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!unavailableIfDatabaseAway(error) || performance.now() > deadline) throw error;
      onWait();
      await sleep(RETRY_MS, undefined, { signal });
    }
  }
}
