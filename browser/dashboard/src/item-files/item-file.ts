import { headOf, type NounDescription, type NounField } from '../../../nouns.js';
import { csvLine } from '../files/csv-line.js';
import { inputOf, valueIn } from '../items/item.js';
import { type CsvRecord, csvRecords } from './csv-records.js';
import { valueProblemOf } from './value-problem.js';

export interface ReadItem {
  line: number;
  /** As GraphQL expects it. */
  input: Readonly<Record<string, unknown>>;
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

export interface ItemFile {
  noun: NounDescription;
  name: string;
  text: string;
  items: readonly ReadItem[];
  /** Rows that the gateway would refuse. */
  refused: readonly RefusedRow[];
  /** The first line of a file of refused rows. */
  refusedHeader: string;
}

/** The column with the reason of a refusal. An import ignores it. */
const PROBLEM = 'problem';
const MAX_BYTES = 5_000_000;
/** `name, categoryId and status`. */
export const IN_WORDS = new Intl.ListFormat('en-GB');

/** Reads a CSV file in the form of `petstore <nouns> import`. Throws an `Error` for people if it is none. */
export async function readItemFile(noun: NounDescription, file: File): Promise<ItemFile> {
  if (file.size > MAX_BYTES) {
    throw new Error(`It is larger than 5 MB. Import it on the command line: petstore ${noun.plural} import.`);
  }
  const read = itemFileOf(noun, { name: file.name, text: decoded(await file.arrayBuffer()) });
  if (read.items.length + read.refused.length === 0) throw new Error('It has no rows below its first line.');
  return read;
}

/** As `readItemFile`, for a text that was read before. */
export function itemFileOf(noun: NounDescription, { name, text }: { name: string; text: string }): ItemFile {
  const [head, ...records] = csvRecords(text);
  const header = headerOf(noun, head);
  const refusedHeader = csvLine(header.includes(PROBLEM) ? header : [...header, PROBLEM]);
  const items: ReadItem[] = [];
  const refused: RefusedRow[] = [];
  for (const record of records) {
    const read = itemOf(noun, record, header);
    if ('input' in read) items.push(read);
    else refused.push(read);
  }
  return { noun, name, text, items, refused, refusedHeader };
}

function decoded(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('It is not UTF-8 text. Save it as CSV in UTF-8.');
  }
}

function headerOf(noun: NounDescription, record: CsvRecord | undefined): readonly string[] {
  if (!record) throw new Error('It is empty.');
  const header = record.fields ?? [];
  const columns = noun.fields.map(({ name }) => name);
  const optional = noun.fields.flatMap(({ name, isRequired }) => (isRequired ? [] : [name]));
  const missing = columns.filter((column) => !header.includes(column) && !optional.includes(column));
  const twice = columns.find((column) => header.indexOf(column) !== header.lastIndexOf(column));
  if (missing.length > 0) {
    const mayMiss = optional.length === 0 ? '' : `; only ${IN_WORDS.format(optional)} may be missing`;
    throw new Error(
      `Its first line lacks ${missing.join(' and ')}. It must name the columns ${IN_WORDS.format(columns)}, separated by commas${mayMiss}.`,
    );
  }
  if (twice) throw new Error(`Its first line names ${twice} twice.`);
  return header;
}

function itemOf(noun: NounDescription, record: CsvRecord, header: readonly string[]): ReadItem | RefusedRow {
  const refused = (problem: string) => refusedRow(noun, record, header, problem);
  const { fields, line } = record;
  if (!fields) return refused(`row ${record.problem}`);
  if (fields.length !== header.length) {
    return refused(`row has ${fields.length} fields, but the header has ${header.length}`);
  }
  const at = (column: string) => fields[header.indexOf(column)] ?? '';
  const problems = noun.fields.flatMap((field) => valueProblemOf(field, at(field.name)) ?? []);
  if (problems.length > 0) return refused(problems.join('; '));
  const input = Object.fromEntries(
    noun.fields.map((field) => [field.name, cellValueOf(field, at(field.name))]),
  );
  return { line, input, refused };
}

/** As the command line reads a cell: an empty one states nothing. */
function cellValueOf(field: NounField, text: string): unknown {
  if (field.json !== 'texts') return inputOf(field, text);
  return text === '' ? null : valueIn(text);
}

/** Of an unreadable row the whole text becomes the name. Without the other fields the next import refuses it too. */
function refusedRow(
  noun: NounDescription,
  { line, text, fields }: CsvRecord,
  header: readonly string[],
  reason: string,
): RefusedRow {
  const problem = `line ${line}: ${reason}`;
  const { name } = headOf(noun);
  const values =
    fields?.length === header.length ? fields : header.map((column) => (column === name ? text : ''));
  const at = header.indexOf(PROBLEM);
  const written = csvLine(at === -1 ? [...values, problem] : values.with(at, problem));
  return { line, problem, text: written, original: text };
}
