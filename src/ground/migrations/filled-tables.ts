import { type MigrationInterface, type QueryRunner, Table, type TableOptions } from 'typeorm';
import { entriesIn } from '../kernel/json.js';
import { quoted } from './changed-values.js';
import { exactCollation, isSqlite } from './tables.js';

/**
 * A table with a row for each entry of the lists in another table. Its first columns are its primary key: the project, the
 * entry and the id of the record. The list and all further columns have the same names in the other table. D-285.
 */
export interface FilledTable extends TableOptions {
  readonly filledFrom: string;
}

abstract class FilledTableMigration implements MigrationInterface {
  abstract readonly table: FilledTable;

  get locks(): { readonly mysql: string | null; readonly sqlite: string | null } {
    const { name, filledFrom } = this.table;
    const stop = `nothing waits, but stop the processes of the older release first: the rows of ${name} follow from their writes to ${filledFrom}, and they write none.`;
    return {
      mysql: stop,
      sqlite: `Writes wait while ${name} is filled. Stop the processes of the older release first.`,
    };
  }

  abstract up(runner: QueryRunner): Promise<void>;
  abstract down(runner: QueryRunner): Promise<void>;
}

/** Creates such a table with its rows, and drops it when it is undone. */
export abstract class NewFilledTable extends FilledTableMigration {
  up(runner: QueryRunner): Promise<void> {
    return createFilled(runner, this.table);
  }

  down(runner: QueryRunner): Promise<void> {
    return runner.dropTable(this.table.name);
  }
}

/** Drops such a table, and creates it with its rows when it is undone. */
export abstract class DroppedFilledTable extends FilledTableMigration {
  override get locks() {
    const stop = `nothing waits, but stop the processes of the older release first: they write ${this.table.name}.`;
    return { mysql: stop, sqlite: stop };
  }

  up(runner: QueryRunner): Promise<void> {
    return runner.dropTable(this.table.name);
  }

  down(runner: QueryRunner): Promise<void> {
    return createFilled(runner, this.table);
  }
}

/** The name of a table on MySQL until it has all its rows. */
const UNFILLED = 'unfilled_entries';

/** MySQL undoes nothing: a migration that fails, or dies, leaves a table of another name. */
async function createFilled(runner: QueryRunner, table: FilledTable): Promise<void> {
  if (isSqlite(runner)) {
    await runner.createTable(new Table(table));
    await fill(runner, table, table.name);
    return;
  }
  const collation = await exactCollation(runner);
  await runner.query(`DROP TABLE IF EXISTS ${UNFILLED}`);
  await runner.createTable(new Table({ ...table, name: UNFILLED }));
  await runner.query(`ALTER TABLE ${UNFILLED} CONVERT TO CHARACTER SET utf8mb4 COLLATE ${collation}`);
  await fill(runner, table, UNFILLED);
  await runner.query(`RENAME TABLE ${UNFILLED} TO ${quoted(table.name)}`);
}

const READ_ROWS = 1_000;
const WRITTEN_ROWS = 250;

/** In steps, so that its memory does not grow with the table. */
async function fill(
  runner: QueryRunner,
  { filledFrom, columns = [] }: FilledTable,
  into: string,
): Promise<void> {
  const [project, list, id, ...others] = columns;
  if (!project || !list || !id) throw new Error(`${into} has no key`);
  const all = [project, list, id, ...others];
  // A driver may read a 64-bit integer inexactly.
  const read = all.map(({ name, type }, at) =>
    type === 'varchar' ? `${quoted(name)} AS c${at}` : `CAST(${quoted(name)} AS CHAR) AS c${at}`,
  );
  const key = [project, id].map(({ name }) => `${quoted(filledFrom)}.${quoted(name)}`);
  const [ofProject, ofId] = key;
  const isOnSqlite = isSqlite(runner);
  const behind = isOnSqlite
    ? `(${key.join(', ')}) > (?, ?)`
    : `(${ofProject} > ? OR (${ofProject} = ? AND ${ofId} > ?))`;
  const index = isOnSqlite ? '' : 'FORCE INDEX (PRIMARY)';
  for (let last: [bigint, bigint] | null = null; ; ) {
    const position: bigint[] = last === null ? [] : isOnSqlite ? last : [last[0], ...last];
    const rows: Record<string, string | null>[] = await runner.query(
      `SELECT ${read.join(', ')} FROM ${quoted(filledFrom)} ${index} WHERE ${last === null ? 'TRUE' : behind} ORDER BY ${key.join(', ')} LIMIT ${READ_ROWS}`,
      position,
    );
    const entries = rows.flatMap((row) =>
      entriesIn(row.c1, Number(list.length)).map((entry) =>
        all.map((_, at) => (at === 1 ? entry : row[`c${at}`])),
      ),
    );
    for (let at = 0; at < entries.length; at += WRITTEN_ROWS) {
      const part = entries.slice(at, at + WRITTEN_ROWS);
      const marks = `(${all.map(() => '?').join(', ')})`;
      await runner.query(
        `INSERT INTO ${quoted(into)} (${all.map(({ name }) => quoted(name)).join(', ')}) VALUES ${part.map(() => marks).join(', ')}`,
        part.flat(),
      );
    }
    const end = rows.at(-1);
    if (!end || rows.length < READ_ROWS) return;
    last = [BigInt(end.c0 as string), BigInt(end.c2 as string)];
  }
}
