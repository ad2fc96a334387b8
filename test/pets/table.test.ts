import { expect, test } from '@jest/globals';
import { Project } from '../../src/tenants/projects/project.entity.js';
import { databaseKinds } from '../support/databases.js';
import { GATEWAY } from '../support/gateway/tested-gateway.js';
import { PETSTORE } from '../support/pets/petstore.js';
import { startApp } from '../support/start-app.js';

test.each(databaseKinds())(
  'PetsTable-1: on %s the migration written by hand makes the indexes and the order of names that a definition makes',
  async (kind) => {
    const tableOf = async (gateway: typeof GATEWAY, table: string) => {
      const app = await startApp({ kind, gateway });
      const statements =
        kind === 'sqlite'
          ? [`SELECT sql FROM sqlite_master WHERE tbl_name = '${table}' ORDER BY name`]
          : [
              `SHOW FULL COLUMNS FROM ${table} LIKE 'name'`,
              `SELECT index_name, column_name FROM information_schema.statistics
               WHERE table_schema = DATABASE() AND table_name = '${table}' ORDER BY index_name <> 'PRIMARY', index_name, seq_in_index`,
            ];
      const found = await Promise.all(statements.map((sql) => app.db.repository(Project).query(sql)));
      await app.stop();
      return JSON.stringify(found, null, 1).replaceAll(table, 'records');
    };
    expect(await tableOf(PETSTORE, 'pets')).toBe(await tableOf(GATEWAY, 'toys'));
  },
);
