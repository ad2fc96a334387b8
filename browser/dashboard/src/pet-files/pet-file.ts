import { csvLine } from '../files/csv-line.js';
import type { NewPet } from '../graphql/generated.js';
import { PET_STATUSES } from '../pets/pet-browsing.js';
import { type CsvRecord, csvRecords } from './csv-records.js';

export interface ReadPet {
  line: number;
  input: NewPet;
  /** The row with a problem, as a line of the file of refused rows. */
  refused: (problem: string) => RefusedRow;
}

export interface RefusedRow {
  line: number;
  /** As in the file of refused rows, with the line. */
  problem: string;
  /** A line of that file. */
  text: string;
  /** For people: the row as it was written. */
  original: string;
}

export interface PetFile {
  name: string;
  text: string;
  pets: readonly ReadPet[];
  /** Rows that the gateway would refuse. */
  refused: readonly RefusedRow[];
  /** The first line of a file of refused rows. */
  refusedHeader: string;
}

const REQUIRED = ['name', 'categoryId'];
const COLUMNS = [...REQUIRED, 'status'];
/** The column with the reason of a refusal. An import ignores it. */
const PROBLEM = 'problem';
const MAX_BYTES = 5_000_000;
const MAX_NAME = 255;
const INT64 = [-(2n ** 63n), 2n ** 63n - 1n] as const;

/** Reads a CSV file in the form of `petstore pets import`. Throws an `Error` for people if it is none. */
export async function readPetFile(file: File): Promise<PetFile> {
  if (file.size > MAX_BYTES) {
    throw new Error('It is larger than 5 MB. Import it on the command line: petstore pets import.');
  }
  return petFileOf(file.name, decoded(await file.arrayBuffer()));
}

/** As `readPetFile`, for a text that was read before. */
export function petFileOf(name: string, text: string): PetFile {
  const [head, ...records] = csvRecords(text);
  const header = headerOf(head);
  const refusedHeader = csvLine(header.includes(PROBLEM) ? header : [...header, PROBLEM]);
  const pets: ReadPet[] = [];
  const refused: RefusedRow[] = [];
  for (const record of records) {
    const read = petOf(record, header);
    if ('input' in read) pets.push(read);
    else refused.push(read);
  }
  return { name, text, pets, refused, refusedHeader };
}

function decoded(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('It is not UTF-8 text. Save it as CSV in UTF-8.');
  }
}

function headerOf(record: CsvRecord | undefined): readonly string[] {
  if (!record) throw new Error('It is empty.');
  const header = record.fields ?? [];
  const missing = REQUIRED.filter((column) => !header.includes(column));
  const twice = COLUMNS.find((column) => header.indexOf(column) !== header.lastIndexOf(column));
  if (missing.length > 0) {
    throw new Error(
      `Its first line lacks ${missing.join(' and ')}. It must name the columns name, categoryId and status, separated by commas; only status may be missing.`,
    );
  }
  if (twice) throw new Error(`Its first line names ${twice} twice.`);
  return header;
}

function petOf(record: CsvRecord, header: readonly string[]): ReadPet | RefusedRow {
  const refused = (problem: string) => refusedRow(record, header, problem);
  const { fields, line } = record;
  if (!fields) return refused(`row ${record.problem}`);
  if (fields.length !== header.length) {
    return refused(`row has ${fields.length} fields, but the header has ${header.length}`);
  }
  const at = (column: string) => fields[header.indexOf(column)] ?? '';
  const [name, categoryId, status] = [at('name'), at('categoryId'), at('status')];
  const known = PET_STATUSES.find((each) => each === status);
  const problems = [
    isName(name) ? '' : `name must be text of 1 to ${MAX_NAME} characters, not only blanks`,
    isInt64(categoryId) ? '' : `categoryId must be an integer from ${INT64[0]} to ${INT64[1]}`,
    status === '' || known ? '' : `status must be one of ${PET_STATUSES.join(', ')}`,
  ].filter(Boolean);
  if (problems.length > 0) return refused(problems.join('; '));
  return { line, input: { name, categoryId, status: known ?? null }, refused };
}

/** Of an unreadable row the whole text becomes the name. Without a category the next import refuses it too. */
function refusedRow(
  { line, text, fields }: CsvRecord,
  header: readonly string[],
  reason: string,
): RefusedRow {
  const problem = `line ${line}: ${reason}`;
  const values =
    fields?.length === header.length ? fields : header.map((column) => (column === 'name' ? text : ''));
  const at = header.indexOf(PROBLEM);
  const written = csvLine(at === -1 ? [...values, problem] : values.with(at, problem));
  return { line, problem, text: written, original: text };
}

function isName(text: string): boolean {
  const { length } = [...text];
  return length >= 1 && length <= MAX_NAME && text.trim() !== '' && !/[\0\p{Surrogate}]/u.test(text);
}

function isInt64(text: string): boolean {
  if (!/^-?\d{1,19}$/.test(text)) return false;
  const value = BigInt(text);
  return value >= INT64[0] && value <= INT64[1];
}
