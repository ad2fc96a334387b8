import type { QueryRunner } from 'typeorm';
import { ChangedTable } from './table-changes.js';
import { isSqlite, text } from './tables.js';

const [BEFORE, AFTER] = [255, 4_000];

/** Room for the scopes of 100 nouns and more. MySQL copies no row for it. */
export class KeyScopes1780000008000 extends ChangedTable {
  readonly table = 'api_keys';
  readonly changes = [{ changeColumn: text('scopes', AFTER), from: text('scopes', BEFORE) }];

  override get locks() {
    return { ...super.locks, mysql: null };
  }

  override up(runner: QueryRunner): Promise<void> {
    return isSqlite(runner) ? super.up(runner) : resize(runner, AFTER);
  }

  /** Throws an `Error` while a key has more: it would lose scopes. */
  override async down(runner: QueryRunner): Promise<void> {
    const [{ count }] = await runner.query(
      `SELECT COUNT(*) AS count FROM api_keys WHERE LENGTH(scopes) > ${BEFORE}`,
    );
    if (Number(count) > 0) throw new Error(`${count} API keys have more than ${BEFORE} characters of scopes`);
    await (isSqlite(runner) ? super.down(runner) : resize(runner, BEFORE));
  }
}

async function resize(runner: QueryRunner, length: number): Promise<void> {
  await runner.query(
    `ALTER TABLE api_keys MODIFY COLUMN scopes varchar(${length}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL`,
  );
}
