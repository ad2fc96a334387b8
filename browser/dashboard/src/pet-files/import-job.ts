import { createStore } from '../store.js';
import { readRecord, removeRecords, writeRecord } from './import-records.js';
import { type PetFile, petFileOf, type RefusedRow } from './pet-file.js';

/** How far an import is. */
interface Progress {
  /** How many rows were sent. */
  done: number;
  added: number;
  refused: RefusedRow[];
  /** The rows that are sent next; `sentAtMs` is set while it is not known whether the gateway has them. */
  batch: { count: number; sentAtMs: number | null } | null;
  state: 'running' | 'paused' | 'over';
}

/** An import that a reload continues. */
export interface ImportJob extends Progress {
  /** Begins the Idempotency-Key of each of its requests, so that none adds a pet twice. */
  key: string;
  /** The slug of the project. */
  project: string;
  file: PetFile;
  /** How many of the file's pets are imported. */
  total: number;
}

interface StoredFile {
  name: string;
  text: string;
  key: string;
  total: number;
  startedAtMs: number;
}

const KEPT_MS = 7 * 86_400_000;
/** Later the person has perhaps forgotten it, or is another one. */
const RESUMED_MS = 3_600_000;
const BEGINNING: Progress = { done: 0, added: 0, refused: [], batch: null, state: 'running' };

/** The import of this tab; null = none. A project has one at a time. */
export const currentImport = createStore<ImportJob | null>(null);

export async function beginImport(job: Pick<ImportJob, 'key' | 'project' | 'file' | 'total'>): Promise<void> {
  const { key, project, file, total } = job;
  const stored: StoredFile = { name: file.name, text: file.text, key, total, startedAtMs: Date.now() };
  const begun = { ...job, ...structuredClone(BEGINNING) };
  await writeRecord(project, 'file', stored);
  await saveProgress(begun);
  currentImport.set(begun);
}

/** The import that a reload or the end of a tab has interrupted; null = none. */
export async function storedImport(project: string): Promise<ImportJob | null> {
  const stored = await readRecord<StoredFile>(project, 'file');
  const progress = await readRecord<Progress & { savedAtMs: number }>(project, 'progress');
  if (!stored || !progress) return null;
  if (stored.startedAtMs + KEPT_MS < Date.now()) {
    await removeRecords(project);
    return null;
  }
  const { savedAtMs, ...known } = progress;
  const isOld = known.state === 'running' && savedAtMs + RESUMED_MS < Date.now();
  const { name, text, key, total } = stored;
  return {
    key,
    project,
    total,
    file: petFileOf(name, text),
    ...known,
    ...(isOld ? { state: 'paused' } : {}),
  };
}

export async function saveProgress({
  project,
  done,
  added,
  refused,
  batch,
  state,
}: ImportJob): Promise<void> {
  await writeRecord(project, 'progress', { done, added, refused, batch, state, savedAtMs: Date.now() });
}

/** Takes over what another tab has done since. */
export async function catchUp(job: ImportJob): Promise<void> {
  const known = await readRecord<Progress>(job.project, 'progress');
  if (!known) return;
  const { done, added, refused, batch, state } = known;
  Object.assign(job, { done, added, refused, batch, state });
}

export async function forgetImport({ project }: ImportJob): Promise<void> {
  currentImport.set(null);
  await removeRecords(project);
}

/** Runs the work in one tab at a time. Without a secure page there are no locks; the keys of the requests still protect. */
export async function whileAlone(
  { project }: ImportJob,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  if (!navigator.locks) return work();
  return navigator.locks.request(`petstore-import:${project}`, { signal }, work);
}
