import { describe, expect, test } from '@jest/globals';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { loadConfig } from '../../src/ground/config/config.js';
import { Database } from '../../src/ground/database/database.js';
import { createTestDatabase, databaseKinds } from '../support/databases.js';
import { DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';
import { startFaultProxy } from '../support/http/fault-proxy.js';
import { testOnMysql } from '../support/on-databases.js';
import { startMysql } from '../support/servers/mysql.js';
import { isStatement } from '../support/servers/mysql-distortions.js';

for (const kind of databaseKinds().filter((each) => each !== 'sqlite')) {
  describe(`on ${kind}`, () => {
    test('Session-1: a session of a single server is asked one question, and waits for no other node', async () => {
      const database = await createTestDatabase(kind);
      const url = new URL(database.url);
      const proxy = await startFaultProxy(Number(url.port));
      const sent: string[] = [];
      await proxy.set({
        ofRequest(bytes, { server }) {
          if (isStatement(bytes)) sent.push(String(bytes.subarray(5)));
          server.write(bytes);
        },
      });
      url.port = String(proxy.port);
      const db = await Database.open(loadConfig({ DATABASE_URL: url.href }).database, DATABASE_SCHEMA);
      try {
        expect(sent.slice(0, 2)).toEqual([
          expect.stringMatching(/SET SESSION innodb_lock_wait_timeout/),
          expect.stringMatching(/SELECT plugin_name/),
        ]);
        expect(sent.filter((sql) => /SELECT plugin_name|wsrep|BEFORE/.test(sql))).toHaveLength(1);
        const consistency =
          "SHOW SESSION VARIABLES WHERE Variable_name IN ('wsrep_sync_wait', 'group_replication_consistency')";
        const rows = await db.execute<{ Value: string }>(consistency, []);
        const ofServer = await db.execute(consistency.replace('SESSION', 'GLOBAL'), []);
        expect(rows).toEqual(ofServer);
      } finally {
        await db.close();
        await proxy.stop();
        await database.remove();
      }
    });
  });
}

testOnMysql(
  'Session-2: with Group Replication each session waits before its statements, and keeps a wait after them',
  async () => {
    const server = await startMysql({ args: ['--plugin-load-add=group_replication.so'] });
    try {
      const root = await createConnection(server.url);
      await root.query('CREATE DATABASE petstore');
      const settingOf = async (consistency: string, ofServer: string) => {
        await root.query<RowDataPacket[]>(`SET GLOBAL group_replication_consistency = '${ofServer}'`);
        const env = { DATABASE_URL: `${server.url}/petstore`, DATABASE_CONSISTENCY: consistency };
        const db = await Database.open(loadConfig(env).database, DATABASE_SCHEMA);
        const sql = 'SELECT @@group_replication_consistency AS value';
        return db.execute(sql, []).finally(() => db.close());
      };
      expect(await settingOf('strict', 'EVENTUAL')).toEqual([{ value: 'BEFORE' }]);
      expect(await settingOf('strict', 'BEFORE_ON_PRIMARY_FAILOVER')).toEqual([{ value: 'BEFORE' }]);
      expect(await settingOf('strict', 'AFTER')).toEqual([{ value: 'BEFORE_AND_AFTER' }]);
      expect(await settingOf('local', 'EVENTUAL')).toEqual([{ value: 'EVENTUAL' }]);
      await root.end();
    } finally {
      await server.stop();
    }
  },
);
