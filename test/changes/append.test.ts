import { expect, test } from '@jest/globals';
import { ChangeLogRow, ChangeRow } from '../../src/ground/records/change-log.entity.js';
import { closeLog, openLog } from '../support/changes/changes.js';
import { onAnyDatabase, testOnMysql } from '../support/on-databases.js';
import { startApp } from '../support/start-app.js';

const CHANGE = { noun: 'toys', kind: 'created', record: '{"id":"1"}', replaced: null } as const;

onAnyDatabase((app) => {
  test('Changes-Proof-10: a write whose outcome is unknown stays announced, so that readers look for its changes', async () => {
    const { log } = app().app.services.changes;
    const heard: string[] = [];
    const stop = log.signals.listen(7n, (signal) => heard.push(signal));
    await log.announcing(7n, async () => {});
    const lost = log.announcing(7n, async () => {
      throw new Error('the connection was lost during COMMIT');
    });
    await expect(lost).rejects.toThrow('during COMMIT');
    stop();
    expect(heard).toEqual(['writing', 'written', 'writing']);
  });

  test('Changes-Proof-13: of writes that share a transaction, one whose request ends before the COMMIT is not done', async () => {
    const owner = await app().tenant();
    await openLog(app(), owner);
    const { log } = app().app.services.changes;
    const done: string[] = [];
    const write = (name: string, mayWrite: () => boolean) =>
      log.write(owner.projectId, async (_, changes) => changes.push(CHANGE) && done.push(name), mayWrite);
    const waits = () => true;
    // Its request ends while the transaction waits for the row of the log.
    const ends = () => !done.includes('ended');
    const [first, ended, last] = await Promise.allSettled([
      write('first', waits),
      write('ended', ends),
      write('last', waits),
    ]);
    expect([first?.status, ended?.status, last?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    // The shared transaction was rolled back; then each ran alone.
    expect(done).toEqual(['first', 'ended', 'last', 'last']);
    const { projectId } = owner;
    expect(await app().db.repository(ChangeRow).countBy({ projectId })).toBe(2);
  });
});

testOnMysql(
  'Changes-Proof-11: a write that began before the log was switched off is not logged',
  async () => {
    const app = await startApp({ kind: 'mysql' });
    try {
      const owner = await app.tenant();
      const { projectId } = owner;
      await openLog(app, owner);
      const { log } = app.app.services.changes;
      await app.db.transaction(async (manager) => {
        // From here on the transaction reads a snapshot.
        await manager.findOneBy(ChangeLogRow, { projectId });
        await closeLog(app, owner);
        await log.append(manager, projectId, [CHANGE]);
      });
      expect(await app.db.repository(ChangeRow).findBy({ projectId })).toEqual([]);
    } finally {
      await app.stop();
    }
  },
);
