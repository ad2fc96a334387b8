import { FIRST_NOUN, NOUNS } from '../../../gateway.js';
import { createStore } from '../store.js';
import { readRecord, removeRecords, writeRecord } from './import-records.js';
import { type ItemFile, itemFileOf, type RefusedRow } from './item-file.js';

/** How far an import is. */
interface Progress {
  /** Begins the Idempotency-Key of each of its requests, so that none adds an item twice. */
  key: string;
  /** How many rows were sent. */
  done: number;
  added: number;
  refused: RefusedRow[];
  /** The rows that are sent next; `sentAtMs` is set while it is not known whether the gateway has them. */
  batch: { count: number; sentAtMs: number | null } | null;
  state: 'running' | 'paused' | 'over';
  /** Whether Activity has it; undefined = a page before this one began it. */
  isRecorded?: boolean;
}

/** An import that a reload continues. D-179. */
export interface ImportJob extends Progress {
  /** The slug of the project. */
  project: string;
  file: ItemFile;
  /** How many of the file's items are imported. */
  total: number;
}

interface StoredFile {
  /** The noun of its rows, in plural; undefined = an import that a page without other nouns began. */
  noun?: string;
  name: string;
  text: string;
  total: number;
  startedAtMs: number;
}

const KEPT_MS = 7 * 86_400_000;
/** Later the person has perhaps forgotten it, or is another one. */
const RESUMED_MS = 3_600_000;
const BEGINNING = {
  done: 0,
  added: 0,
  refused: [],
  batch: null,
  state: 'running',
  isRecorded: false,
} as const;

/** The import of this tab; null = none. A project has one at a time. */
export const currentImport = createStore<ImportJob | null>(null);

export async function beginImport(job: Pick<ImportJob, 'key' | 'project' | 'file' | 'total'>): Promise<void> {
  const { project, file, total } = job;
  const stored: StoredFile = {
    noun: file.noun.plural,
    name: file.name,
    text: file.text,
    total,
    startedAtMs: Date.now(),
  };
  const begun: ImportJob = { ...job, ...BEGINNING, refused: [] };
  await removeRecords(project);
  await writeRecord(project, 'file', stored);
  await saveProgress(begun);
  currentImport.set(begun);
}

/** The import that a reload or the end of a tab has interrupted; null = none. */
export async function storedImport(project: string): Promise<ImportJob | null> {
  const stored = await readRecord<StoredFile>(project, 'file');
  const progress = await readRecord<Progress & { savedAtMs: number }>(project, 'progress');
  if (!stored || !progress) return null;
  const { name, text, total, noun: plural = FIRST_NOUN.plural } = stored;
  const noun = NOUNS.find((each) => each.plural === plural);
  if (!noun || stored.startedAtMs + KEPT_MS < Date.now()) {
    await removeRecords(project);
    return null;
  }
  const { savedAtMs, ...known } = progress;
  const isOld = known.state === 'running' && savedAtMs + RESUMED_MS < Date.now();
  return {
    project,
    total,
    file: itemFileOf(noun, { name, text }),
    ...known,
    ...(isOld ? { state: 'paused' } : {}),
  };
}

/** Does nothing if another tab has begun another import since. */
export async function saveProgress(job: ImportJob): Promise<void> {
  if (await isReplaced(job)) return;
  const { key, project, done, added, refused, batch, state, isRecorded } = job;
  const progress = { key, done, added, refused, batch, state, isRecorded };
  await writeRecord(project, 'progress', { ...progress, savedAtMs: Date.now() });
}

/** Takes over what another tab has done since, or the other import that it has begun. */
export async function catchUp(job: ImportJob): Promise<void> {
  if (await isReplaced(job)) {
    job.state = 'paused';
    return currentImport.set(await storedImport(job.project));
  }
  const known = await readRecord<Progress>(job.project, 'progress');
  if (!known) return;
  const { done, added, refused, batch, state } = known;
  Object.assign(job, { done, added, refused, batch, state });
}

/** Its card stays until it is removed: before that a reload would bring it back. */
export async function forgetImport(job: ImportJob): Promise<void> {
  if (!(await isReplaced(job))) await removeRecords(job.project);
  if (currentImport.get() === job) currentImport.set(null);
}

async function isReplaced({ project, key }: ImportJob): Promise<boolean> {
  const known = await readRecord<Progress>(project, 'progress');
  return known !== undefined && known.key !== key;
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
