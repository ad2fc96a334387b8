import type { TableDifference } from './compare.js';

export interface MigrationFile {
  readonly name: string;
  readonly className: string;
  readonly text: string;
}

const PACKAGE = 'petstore-gateway/migrations';
/** A longer name of a file would name no more to a reader. */
const MOST_NAMED_COLUMNS = 3;
const LINE_LENGTH = 100;

/**
 * The source of a migration. Its TypeScript has types only where Node removes them. TypeORM reads the time at the end of the
 * class's name.
 */
export function migrationFile(
  difference: TableDifference,
  atMs: number,
  isTypeScript: boolean,
): MigrationFile {
  const { table, changes, columns, isDropped = false } = difference;
  const words = [...wordsOf(table.name, columns, changes === null), ...(isDropped ? ['dropped'] : [])];
  const className = `${words.map(capitalized).join('')}${atMs}`;
  const typed = (type: string) => (isTypeScript ? `: ${type}` : '');
  const types = isTypeScript && changes !== null ? ', type TableChange' : '';
  const isFilled = table.filledFrom !== undefined;
  const base = isDropped ? 'DroppedFilledTable' : isFilled ? 'NewFilledTable' : 'NewTable';
  const filled = isFilled && !isDropped ? `, and fills it from ${table.filledFrom}` : '';
  const lines =
    changes === null
      ? [
          `import { ${base} } from '${PACKAGE}';`,
          '',
          `/** ${isDropped ? 'Drops' : 'Creates'} the table ${table.name}${filled}. */`,
          `export class ${className} extends ${base} {`,
          `  table = ${literal(plainTable(table), '  ')};`,
        ]
      : [
          `import { ChangedTable${types} } from '${PACKAGE}';`,
          '',
          `/** ${commentOf(difference)} */`,
          `export class ${className} extends ChangedTable {`,
          `  table = ${literal(table.name, '  ')};`,
          `  changes${typed('TableChange[]')} = ${literal(changes, '  ')};`,
        ];
  return {
    name: `${atMs}-${words.join('-').replaceAll('_', '-')}.${isTypeScript ? 'ts' : 'js'}`,
    className,
    text: `${[...lines, '}'].join('\n')}\n`,
  };
}

function wordsOf(table: string, columns: readonly string[], isNew: boolean): string[] {
  if (isNew) return [table];
  if (columns.length === 0) return [table, 'indexes'];
  return columns.length > MOST_NAMED_COLUMNS ? [table, 'columns'] : [table, ...columns];
}

function commentOf({ table, columns, changes, losses }: TableDifference): string {
  const what = columns.length === 0 ? 'indexes' : columns.join(', ');
  const renamed = (changes ?? []).flatMap((change) => {
    if (!('changeColumn' in change) || change.from.name === change.changeColumn.name) return [];
    return `${change.changeColumn.name} was called ${change.from.name}.`;
  });
  return [`Changes ${what} of ${table.name}.`, ...renamed, ...losses].join(' ');
}

function plainTable({ name, withoutRowid, columns, indices, filledFrom }: TableDifference['table']) {
  return {
    name,
    ...(withoutRowid && { withoutRowid }),
    columns,
    ...(indices?.length && { indices }),
    filledFrom,
  };
}

/** Plain data as source text, on one line if it fits. */
function literal(value: unknown, indent: string): string {
  const short = oneLine(value);
  if (typeof value !== 'object' || value === null || isNames(value)) return short;
  if (indent.length + short.length <= LINE_LENGTH) return short;
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const lines = entriesOf(value).map(
    ([key, each]) => `${inner}${isList ? '' : `${key}: `}${literal(each, inner)},`,
  );
  return [isList ? '[' : '{', ...lines, `${indent}${isList ? ']' : '}'}`].join('\n');
}

/** A person reads the columns of an index as one line. */
function isNames(value: object): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function oneLine(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const parts = entriesOf(value).map(
    ([key, each]) => (Array.isArray(value) ? '' : `${key}: `) + oneLine(each),
  );
  if (Array.isArray(value)) return `[${parts.join(', ')}]`;
  return `{ ${parts.join(', ')} }`;
}

function entriesOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, each]) => each !== undefined);
}

/** In single quotes, if that needs fewer escapes. */
function quoted(text: string): string {
  const json = JSON.stringify(text);
  return text.includes("'") ? json : `'${json.slice(1, -1).replaceAll('\\"', '"')}'`;
}

function capitalized(word: string): string {
  return word
    .split('_')
    .map((part) => `${part.charAt(0).toUpperCase()}${part.slice(1)}`)
    .join('');
}
