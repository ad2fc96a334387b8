import { csvLine } from '../files/csv-line.js';
import type { RequestPartsFragment } from '../graphql/generated.js';

const COLUMNS = [
  'at',
  'requestId',
  'door',
  'operation',
  'status',
  'code',
  'outcome',
  'durationMs',
  'units',
  'keyId',
  'keyName',
  'keyPrefix',
] as const satisfies readonly (keyof RequestPartsFragment)[];

export const REQUESTS_HEADER = `${COLUMNS.join(',')}\n`;

/** A request as a line of the exported file; a code that is not set is empty. */
export function requestLine(request: RequestPartsFragment): string {
  return `${csvLine(COLUMNS.map((column) => String(request[column] ?? '')))}\n`;
}
