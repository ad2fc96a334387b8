import type { ApolloClient } from '@apollo/client';
import type { NounDescription } from '../../../nouns.js';
import { refusalOf } from '../errors/refusal.js';
import { NOT_YET, paced, type Wait } from '../files/paced.js';
import { ActivityDocument, RecordImportDocument } from '../graphql/generated.js';
import { standing } from '../graphql/standing.js';
import { documentsOf } from '../items/item-documents.js';
import { type ImportJob, saveProgress } from './import-job.js';
import type { ReadItem } from './item-file.js';

interface Tools {
  signal: AbortSignal;
  onWait: (wait: Wait | null) => void;
  onProgress: () => void;
}

/** Items for which the gateway asks one unit. */
export const ITEMS_PER_UNIT = 10;
/** The gateway accepts 100 items in a request. */
export const UNITS_PER_REQUEST = 10;
/** The gateway accepts bodies of 100 KB. */
const MAX_BYTES = 80_000;
/** The gateway keeps an Idempotency-Key for 24 hours; then the same request would add its items again. */
const KEY_KEPT_MS = 23 * 3_600_000;

/** Sends the items that are left, in their order. `job` always tells how far it is; call again to continue. */
export async function sendItems(client: ApolloClient, job: ImportJob, tools: Tools): Promise<void> {
  while (job.done < job.total) {
    job.batch ??= { count: nextCount(job), sentAtMs: null };
    const batch = job.file.items.slice(job.done, job.done + job.batch.count);
    job.added += await sendBatch(client, job, { batch, tools });
    job.done += batch.length;
    job.batch = null;
    await saveProgress(job);
    tools.onProgress();
  }
}

/** Tells the gateway of an import that is over, so that Activity shows it. Does nothing the second time. */
export async function recordImport(
  client: ApolloClient,
  job: ImportJob,
  tools: Omit<Tools, 'onProgress'>,
): Promise<void> {
  const { key, file, added } = job;
  const refused = file.refused.length + job.refused.length;
  if (job.isRecorded || added + refused === 0) return;
  const variables = { resource: file.noun.plural, file: file.name, imported: added, refused };
  const context = { headers: { 'idempotency-key': `${key}-end` } };
  const send = () => client.mutate({ mutation: RecordImportDocument, variables, context });
  await paced(send, { ...tools, of: 'management', units: 1 });
  job.isRecorded = true;
  await saveProgress(job);
  // Not awaited: a list that cannot be read says nothing about the act.
  void client.refetchQueries({ include: [ActivityDocument] });
}

/** How many items the next request has: whole units that the plan can pay, in a body of an allowed size. */
function nextCount({ file: { items }, done, total }: ImportJob): number {
  const { minute, day } = standing.get() ?? {};
  // After the quota is spent it will be full again.
  const payable = [UNITS_PER_REQUEST, minute?.limit, day?.remaining || day?.limit];
  const units = Math.min(...payable.filter((each) => typeof each === 'number'));
  const most = Math.min(units * ITEMS_PER_UNIT, total - done);
  let bytes = 0;
  for (let count = 0; count < most; count += 1) {
    bytes += new TextEncoder().encode(JSON.stringify(items[done + count]?.input)).length;
    if (bytes > MAX_BYTES) return count - (count % ITEMS_PER_UNIT);
  }
  return most;
}

interface Sending {
  batch: readonly ReadItem[];
  tools: Tools;
}

/** Sends a batch until the gateway has it, without the items that the gateway refuses. Returns how many were added. */
async function sendBatch(client: ApolloClient, job: ImportJob, { batch, tools }: Sending): Promise<number> {
  for (;;) {
    const refusedLines = new Set(job.refused.map(({ line }) => line));
    const rows = batch.filter(({ line }) => !refusedLines.has(line));
    if (rows.length === 0) return 0;
    try {
      const units = Math.ceil(rows.length / ITEMS_PER_UNIT);
      await paced(() => sendOnce(client, job, rows), { ...tools, of: 'minute', units });
      return rows.length;
    } catch (error) {
      const refused = error instanceof LostAnswer ? error.rows : refusedBy(error, rows);
      if (refused.length === 0) throw error;
      job.refused.push(...refused.map(([item, problem]) => item.refused(problem)));
      if (job.batch) job.batch.sentAtMs = null;
      await saveProgress(job);
    }
  }
}

async function sendOnce(client: ApolloClient, job: ImportJob, rows: readonly ReadItem[]): Promise<void> {
  const batch = job.batch as NonNullable<ImportJob['batch']>;
  if (batch.sentAtMs === null) {
    batch.sentAtMs = Date.now();
    await saveProgress(job);
  } else if (batch.sentAtMs + KEY_KEPT_MS < Date.now()) {
    throw new LostAnswer(job.file.noun, rows);
  }
  const variables = { inputs: rows.map(({ input }) => input) };
  const context = { headers: { 'idempotency-key': `${job.key}-${job.done}` } };
  try {
    await client.mutate({
      mutation: documentsOf(job.file.noun).createMany,
      variables,
      context,
      fetchPolicy: 'no-cache',
    });
  } catch (error) {
    if (NOT_YET.includes(refusalOf(error)?.code ?? '')) batch.sentAtMs = null;
    throw error;
  }
}

type Refused = readonly [item: ReadItem, problem: string];

/** The rows that the gateway names as the problem: `inputs.17.name`. */
function refusedBy(error: unknown, rows: readonly ReadItem[]): Refused[] {
  return rows.flatMap((item, at): Refused[] => {
    const start = `inputs.${at}.`;
    const own = refusalOf(error)?.errors?.filter(({ field }) => field.startsWith(start)) ?? [];
    const problem = own.map(({ field, message }) => `${field.slice(start.length)} ${message}`).join('; ');
    return problem === '' ? [] : [[item, problem]];
  });
}

/** The items were sent so long ago that the gateway cannot tell any more whether it has them. */
class LostAnswer extends Error {
  readonly rows: readonly Refused[];

  constructor({ singular }: NounDescription, rows: readonly ReadItem[]) {
    super('the answer was lost');
    const problem = `was sent, but its answer was lost; look whether the ${singular} exists`;
    this.rows = rows.map((item) => [item, problem]);
  }
}
