import { expect, test } from '@jest/globals';
import { findingsOf } from '../support/changes/checker.js';
import type { ChangeKind, CommittedChange, Lineage, SeenRecord, Step } from '../support/changes/evidence.js';
import { report } from '../support/changes/finding.js';

const record = (id: string, status: string | null, version = 1): SeenRecord => ({
  id,
  status,
  text: `${id} ${status} ${version}`,
});
const REX = record('rex', 'available');
const SOLD_REX = record('rex', 'sold');
const TOM = record('tom', 'sold');
const OLD_TOM = record('tom', 'sold', 2);

const committed = (number: number, before: SeenRecord | null, after: SeenRecord | null): CommittedChange => ({
  cursor: `c${number}`,
  number,
  before,
  after,
});
const CHANGES = [
  committed(1, null, REX),
  committed(2, null, TOM),
  committed(3, REX, SOLD_REX),
  committed(4, TOM, OLD_TOM),
  committed(5, SOLD_REX, null),
];
const LINEAGE: Lineage = { project: 'a', start: 'c0', changes: CHANGES, snapshots: [] };
const OTHER: Lineage = { ...LINEAGE, project: 'b', changes: [committed(1, null, record('kit', null))] };
/** A restore kept two changes. */
const RESTORED: Lineage = {
  ...LINEAGE,
  changes: [...CHANGES.slice(0, 2), { ...committed(3, TOM, OLD_TOM), cursor: 'd3' }],
};

const page = (cursor: string, ...records: SeenRecord[]): Step => ({
  type: 'page',
  isFirst: true,
  cursor,
  records,
});
const nextPage = (cursor: string, ...records: SeenRecord[]): Step => ({
  type: 'page',
  isFirst: false,
  cursor,
  records,
});
const opened = (after: string): Step => ({ type: 'opened', after });
const change = (cursor: string, kind: ChangeKind, seen: SeenRecord): Step => ({
  type: 'change',
  cursor,
  kind,
  record: seen,
});
const examined = (cursor: string): Step => ({ type: 'examined', cursor });
const acknowledged = (cursor: string): Step => ({ type: 'acknowledged', cursor });
const GONE: Step = { type: 'gone' };

const LISTED = [page('c0'), opened('c0')];
const FIRST = change('c1', 'CREATED', REX);
const SECOND = change('c2', 'CREATED', TOM);
const THIRD = change('c3', 'UPDATED', SOLD_REX);
const FOURTH = change('c4', 'UPDATED', OLD_TOM);
const FIFTH = change('c5', 'DELETED', SOLD_REX);
const LAST = [FOURTH, FIFTH, acknowledged('c5')];

interface Case {
  readonly steps: readonly Step[];
  readonly status?: string;
  readonly lineages?: readonly Lineage[];
}

function check({ steps, status, lineages = [LINEAGE] }: Case) {
  const trace = { subscriber: 'subscriber', project: 'a', status: status ?? null, steps };
  return findingsOf({ lineages: [...lineages, OTHER], traces: [trace] });
}

test.each<[string, Case]>([
  ['every change', { steps: [...LISTED, FIRST, SECOND, THIRD, ...LAST] }],
  ['a list and what followed', { steps: [page('c3', SOLD_REX, TOM), opened('c3'), ...LAST] }],
  [
    'a list that grew old while it was read',
    {
      steps: [
        page('c1', REX),
        nextPage('c4', OLD_TOM),
        opened('c1'),
        SECOND,
        acknowledged('c2'),
        THIRD,
        ...LAST,
      ],
    },
  ],
  [
    'a cut connection',
    { steps: [...LISTED, FIRST, acknowledged('c1'), opened('c1'), SECOND, THIRD, ...LAST] },
  ],
  [
    'a crash that lost what was not acknowledged',
    { steps: [...LISTED, FIRST, acknowledged('c1'), SECOND, THIRD, opened('c1'), SECOND, THIRD, ...LAST] },
  ],
  [
    'a filter, of what came and what left',
    {
      status: 'available',
      steps: [
        ...LISTED,
        FIRST,
        examined('c2'),
        acknowledged('c2'),
        THIRD,
        acknowledged('c3'),
        examined('c5'),
      ],
    },
  ],
  [
    'a filter that is never passed again',
    { status: 'available', steps: [page('c3'), opened('c3'), acknowledged('c3')] },
  ],
  [
    'a list again after the cursor was gone',
    { steps: [...LISTED, FIRST, acknowledged('c1'), GONE, page('c5', OLD_TOM), opened('c5')] },
  ],
  [
    'a cursor that a restore has kept',
    {
      lineages: [LINEAGE, RESTORED],
      steps: [
        ...LISTED,
        FIRST,
        acknowledged('c1'),
        SECOND,
        THIRD,
        opened('c1'),
        SECOND,
        change('d3', 'UPDATED', OLD_TOM),
      ],
    },
  ],
  [
    'a cursor that a restore has undone',
    {
      lineages: [LINEAGE, RESTORED],
      steps: [page('c3', SOLD_REX, TOM), opened('c3'), GONE, page('d3', REX, OLD_TOM), opened('d3')],
    },
  ],
])('Changes-Proof-4: the checker finds nothing wrong with %s', (_, found) => {
  expect(report(check(found))).toBe('');
});

test.each<[string, Case, string[]]>([
  [
    'a missing change',
    { steps: [...LISTED, FIRST, THIRD, acknowledged('c3'), ...LAST] },
    ['copy unlike the table', 'missing change'],
  ],
  ['a change that never comes', { steps: [...LISTED, FIRST, SECOND, THIRD, FOURTH] }, ['stalled']],
  ['a change twice', { steps: [...LISTED, FIRST, FIRST, SECOND, THIRD, ...LAST] }, ['duplicate']],
  [
    'a change twice, after a cut connection',
    { steps: [...LISTED, FIRST, acknowledged('c1'), opened('c1'), FIRST, SECOND, THIRD, ...LAST] },
    ['duplicate'],
  ],
  ['a wrong order', { steps: [...LISTED, SECOND, FIRST, THIRD, ...LAST] }, ['out of order']],
  [
    'a copy that was stored too early',
    { steps: [...LISTED, FIRST, acknowledged('c2'), SECOND, THIRD, ...LAST] },
    ['copy unlike the table', 'out of order'],
  ],
  [
    'another state of the record',
    { steps: [...LISTED, FIRST, change('c2', 'CREATED', OLD_TOM), THIRD, ...LAST] },
    ['other change'],
  ],
  [
    'another kind of change',
    { steps: [...LISTED, FIRST, SECOND, change('c3', 'CREATED', SOLD_REX), ...LAST] },
    ['other change'],
  ],
  [
    'a change of another project',
    { steps: [...LISTED, change('c1', 'CREATED', record('kit', null)), SECOND, THIRD, ...LAST] },
    ['copy unlike the table', 'other project'],
  ],
  [
    'a change that nobody made',
    { steps: [...LISTED, FIRST, SECOND, THIRD, FOURTH, FIFTH, change('c6', 'CREATED', record('jim', null))] },
    ['unknown cursor'],
  ],
  [
    'a change that the filter excludes',
    { status: 'available', steps: [...LISTED, FIRST, SECOND, THIRD, examined('c5')] },
    ['unasked change'],
  ],
  [
    'a filter that hides what left',
    { status: 'available', steps: [...LISTED, FIRST, examined('c5'), acknowledged('c5')] },
    ['copy unlike the table', 'missing change'],
  ],
  [
    'a page newer than its cursor',
    { steps: [page('c2', SOLD_REX, TOM), opened('c2'), acknowledged('c2'), THIRD, ...LAST] },
    ['copy unlike the table', 'page unlike the table'],
  ],
  [
    'a page that lacks a record',
    { steps: [page('c2', REX), opened('c2'), acknowledged('c2'), THIRD, ...LAST] },
    ['copy unlike the table'],
  ],
  [
    'a connection that outlives a restore',
    {
      lineages: [LINEAGE, RESTORED],
      steps: [...LISTED, FIRST, SECOND, THIRD, change('d3', 'UPDATED', OLD_TOM), acknowledged('d3')],
    },
    ['copy unlike the table', 'unknown cursor'],
  ],
  [
    'a restore that a subscriber never learns of',
    { lineages: [LINEAGE, RESTORED], steps: [page('c5', OLD_TOM), opened('c5')] },
    ['stalled'],
  ],
  ['no list after the cursor was gone', { steps: [...LISTED, FIRST, GONE] }, ['stalled']],
])('Changes-Proof-5: the checker finds %s', (_, found, kinds) => {
  expect([...new Set(check(found).map(({ kind }) => kind))].sort()).toEqual(kinds);
});

test.each<[string, Partial<Lineage>, string]>([
  [
    'a number twice',
    { changes: [...CHANGES, { ...committed(5, OLD_TOM, null), cursor: 'x' }] },
    'number used twice',
  ],
  ['a gap of numbers', { changes: [...CHANGES, committed(7, OLD_TOM, null)] }, 'number out of order'],
  [
    'a change of a state that never was',
    { changes: [...CHANGES, committed(6, TOM, null)] },
    'change of another state',
  ],
  [
    'a record that no change made',
    { snapshots: [{ cursor: 'c5', records: [REX, OLD_TOM] }] },
    'table unlike the log',
  ],
  ['a record that no change deleted', { snapshots: [{ cursor: 'c5', records: [] }] }, 'table unlike the log'],
  ['another state of a record', { snapshots: [{ cursor: 'c5', records: [TOM] }] }, 'table unlike the log'],
  ['a counter without a change', { snapshots: [{ cursor: 'c9', records: [] }] }, 'unknown cursor'],
])('Changes-Proof-6: the checker finds %s in the log', (_, wrong, kind) => {
  const snapshots = [
    { cursor: 'c0', records: [] },
    { cursor: 'c3', records: [TOM, SOLD_REX] },
  ];
  const lineage = { ...LINEAGE, snapshots };
  expect(findingsOf({ lineages: [lineage], traces: [] })).toEqual([]);
  expect(findingsOf({ lineages: [{ ...lineage, ...wrong }], traces: [] })).toEqual([
    expect.objectContaining({ kind, of: 'a' }),
  ]);
});
