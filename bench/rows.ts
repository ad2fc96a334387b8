import { createRow, listRow, pacedRow } from './peer-rows.js';
import type { Row } from './row.js';
import { deepPageRow, largeListRow, twoProcessesRow } from './scale-rows.js';
import { shareRows } from './share-rows.js';
import { memoryRow, readyRow } from './start-rows.js';
import { tracingRows } from './tracing-rows.js';

/** Every workload with its goal, in the table's order. */
export const ROWS: readonly Row[] = [
  listRow({ door: 'rest', isHot: true, atLeast: 3 }),
  listRow({ door: 'rest', isHot: false, atLeast: 0.95 }),
  listRow({ door: 'graphql', isHot: true, atLeast: 2.5 }),
  listRow({ door: 'graphql', isHot: false, atLeast: 1 }),
  createRow,
  pacedRow,
  largeListRow,
  deepPageRow,
  twoProcessesRow,
  ...shareRows,
  ...tracingRows,
  readyRow,
  memoryRow('idle'),
  memoryRow('under load'),
];
