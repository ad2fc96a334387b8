import type { Evidence, SeenRecord, Step, Trace } from './evidence.js';
import type { Finding } from './finding.js';
import { Follower } from './follower.js';
import { applyTo, History, recordOf } from './history.js';

/**
 * Returns what contradicts the promise. Each subscriber has every change of its project exactly once, in the order of the
 * commits. Its copy equals the table at each acknowledged cursor. Subscribers must have had time to reach the end.
 */
export function findingsOf({ lineages, traces }: Evidence): Finding[] {
  const histories = lineages.map((lineage) => new History(lineage));
  const pages = new Map<History, ListedRecords[]>(histories.map((history) => [history, []]));
  const ofTraces = traces.flatMap((trace) => {
    const own = histories.filter(({ lineage }) => lineage.project === trace.project);
    const strangers = histories.filter((history) => !own.includes(history));
    const followers: Follower[] = [];
    let history: History | undefined;
    for (const part of partsOf(trace)) {
      history = historyOf(part, own);
      pages.get(history)?.push(...listedIn(part, trace, history));
      if (part[0]?.type === 'page') followers.push(new Follower(trace, strangers));
      followers.at(-1)?.take(part, history);
    }
    followers.at(-1)?.end(history === own.at(-1));
    return followers.flatMap(({ findings }) => findings);
  });
  return [...histories.flatMap((history) => findingsOfLog(history, pages.get(history) ?? [])), ...ofTraces];
}

/** Records that must be in the table at a position. */
interface ListedRecords {
  readonly of: string;
  readonly cursor: string;
  readonly position: number;
  readonly records: readonly SeenRecord[];
  /** Whether the table has no others. */
  readonly isWhole: boolean;
}

/** The steps of each list and of each connection. */
function partsOf({ steps }: Trace): Step[][] {
  const parts: Step[][] = [];
  for (const step of steps) {
    if (step.type === 'opened' || (step.type === 'page' && step.isFirst)) parts.push([]);
    const part = parts.at(-1);
    if (!part) throw new Error('a trace begins with a list');
    part.push(step);
  }
  return parts;
}

/** The newest lineage that has the last known cursor. A connection that outlived a restore cannot have both. */
function historyOf(part: readonly Step[], histories: readonly History[]): History {
  const cursors = part.flatMap((step) => {
    if (step.type === 'gone') return [];
    return [step.type === 'opened' ? step.after : step.cursor];
  });
  const has = (cursor: string) => (history: History) => history.positionOf(cursor) !== null;
  const last = cursors.findLast((cursor) => histories.some(has(cursor)));
  const history = last === undefined ? histories.at(-1) : histories.findLast(has(last));
  if (!history) throw new Error('a trace of a project without a lineage');
  return history;
}

function listedIn(steps: readonly Step[], { subscriber }: Trace, history: History): ListedRecords[] {
  return steps.flatMap((step) => {
    const position = step.type === 'page' ? history.positionOf(step.cursor) : null;
    if (step.type !== 'page' || position === null) return [];
    return [{ of: subscriber, cursor: step.cursor, position, records: step.records, isWhole: false }];
  });
}

function findingsOfLog(history: History, pages: readonly ListedRecords[]): Finding[] {
  const findings: Finding[] = [];
  const { project, changes, snapshots } = history.lineage;
  const listed = [...pages];
  for (const { cursor, records } of snapshots) {
    const position = history.positionOf(cursor);
    if (position !== null) listed.push({ of: project, cursor, position, records, isWhole: true });
    else findings.push({ kind: 'unknown cursor', of: project, cursor, detail: 'the counter of a snapshot' });
  }
  listed.sort((a, b) => b.position - a.position);
  const table = new Map<string, SeenRecord>();
  const checkLists = (position: number) => {
    while (listed.at(-1)?.position === position) {
      const list = listed.pop() as ListedRecords;
      const detail = differenceOf(list, table);
      const kind = list.isWhole ? 'table unlike the log' : 'page unlike the table';
      if (detail !== null) findings.push({ kind, of: list.of, cursor: list.cursor, detail });
    }
  };
  checkLists(0);
  for (const [index, change] of changes.entries()) {
    const find = (kind: Finding['kind'], detail: string) =>
      findings.push({ kind, of: project, cursor: change.cursor, detail });
    const previous = changes[index - 1]?.number ?? change.number - 1;
    if (change.number === previous) find('number used twice', String(previous));
    else if (change.number !== previous + 1)
      find('number out of order', `${change.number} after ${previous}`);
    const { id } = recordOf(change);
    const was = table.get(id)?.text;
    if (was !== change.before?.text) find('change of another state', `${change.before?.text} was ${was}`);
    applyTo(table, change);
    checkLists(index + 1);
  }
  return findings;
}

/** Null = the table has these records. */
function differenceOf(
  { records, isWhole }: ListedRecords,
  table: ReadonlyMap<string, SeenRecord>,
): string | null {
  const wrong = records.find(({ id, text }) => table.get(id)?.text !== text);
  if (wrong) return `${wrong.text} instead of ${table.get(wrong.id)?.text ?? 'nothing'}`;
  if (isWhole && table.size !== records.length) return `${records.length} records instead of ${table.size}`;
  return null;
}
