import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { loadConfig } from '../../src/ground/config/config.js';
import { Database } from '../../src/ground/database/database.js';
import { AuditEvent } from '../../src/tenants/audit/audit-event.entity.js';
import { openRecordFile } from '../../src/tenants/files/record-file.js';
import { anyDatabase, databaseKinds } from '../support/databases.js';
import { createServices, DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';
import { startFaultProxy } from '../support/http/fault-proxy.js';
import { Toy, toys } from '../support/nouns/toys.js';
import { testOnMysql } from '../support/on-databases.js';
import { startApp, TEST_ACTOR } from '../support/start-app.js';

testOnMysql(
  'Import-46: an import whose claim, batch and end lost the answer of their COMMIT is done once, with one act',
  async () => {
    const app = await startApp({ kind: databaseKinds().find((kind) => kind !== 'sqlite') ?? anyDatabase() });
    const { projectId, slug } = await app.tenant();
    const folder = await mkdtemp(join(tmpdir(), 'petstore-import-'));
    const path = join(folder, 'toys.csv');
    const rows = Array.from({ length: 1_500 }, (_, at) => `Toy ${at},1`);
    await writeFile(path, ['name,categoryId', ...rows].join('\n'));
    const url = new URL(app.config.database.kind === 'sqlite' ? '' : app.config.database.url);
    const proxy = await startFaultProxy(Number(url.port));
    url.port = String(proxy.port);
    const { database: target } = loadConfig({ DATABASE_URL: url.href });
    const db = await Database.open(target, DATABASE_SCHEMA, { queryTimeoutMs: 300 });
    const { imports } = createServices(db, Date.now).filesOf(toys.description.plural);
    const file = await openRecordFile(path, process.stdin, toys.description.fields);
    try {
      let waits = 0;
      const onWait = () => {
        waits += 1;
        void proxy.set('pass');
      };
      const names = { path, slug };
      const start = { mode: 'new', names, reportPath: '', mayBegin: () => {}, onWait } as const;
      await proxy.set('lost commit');
      const progress = await imports.begin(projectId, file, start);
      const waitsOfClaim = waits;
      await proxy.set('lost commit');
      const isComplete = await imports.run(TEST_ACTOR, {
        file,
        progress,
        signal: new AbortController().signal,
        onWait,
        report: () => 0,
        onProgress: () => void proxy.set('lost commit'),
      });
      expect([isComplete, waitsOfClaim > 0, progress.imported]).toEqual([true, true, 1_500]);
      expect(waits - waitsOfClaim).toBeGreaterThan(2);
      const act = { projectId, action: 'toys.import' };
      expect(await app.db.repository(AuditEvent).countBy(act)).toBe(1);
      const stored = await app.db.repository(Toy).find({ where: { projectId }, order: { id: 'ASC' } });
      expect(stored.map(({ name }) => `${name},1`)).toEqual(rows);
    } finally {
      file.stop();
      await db.close();
      await proxy.stop();
      await rm(folder, { recursive: true });
      await app.stop();
    }
  },
);
