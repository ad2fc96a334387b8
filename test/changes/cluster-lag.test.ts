import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ChangeSequence, RESTORED } from '../../src/ground/database/change-sequence.entity.js';
import { ChangeLogRow, ChangeRow } from '../../src/ground/records/change-log.entity.js';
import { changesClient, openLog } from '../support/changes/changes.js';
import { databaseKinds } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { createLoneNode } from '../support/servers/clusters/lone-node.js';
import { startApp, type Tenant, type TestApp } from '../support/start-app.js';

describe.each(databaseKinds().filter((kind) => kind !== 'sqlite'))('a node of a cluster, on %s', (kind) => {
  let node: Awaited<ReturnType<typeof createLoneNode>>;
  let app: TestApp;
  let owner: Tenant;
  const client = changesClient(
    () => app,
    () => owner,
  );
  beforeAll(async () => {
    node = await createLoneNode(kind);
    app = await startApp({ env: node.env });
  });
  beforeEach(async () => {
    owner = await app.tenant();
    await openLog(app, owner);
  });
  afterAll(async () => {
    await app.stop();
    await node.remove();
  });

  /** Takes the newest change away, as at a node that is behind. Returns its cursor, and how it arrives. */
  async function missingChange() {
    const { projectId } = owner;
    const [logs, changes] = [app.db.repository(ChangeLogRow), app.db.repository(ChangeRow)];
    await client.create('Rex');
    const before = await logs.findOneByOrFail({ projectId });
    app.clock.now += 1_000;
    await client.create('Luna');
    const { changesCursor: after } = await client.list();
    const [log, change] = [
      await logs.findOneByOrFail({ projectId }),
      await changes.findOneByOrFail({ projectId, number: 2 }),
    ];
    await changes.delete({ projectId, number: 2 });
    await logs.update({ projectId }, before);
    const arrive = async () => {
      await changes.insert(change);
      await logs.update({ projectId }, log);
    };
    return { after, arrive };
  }

  /** Counts how often the log's newest position is read from now on. */
  function countLooks(): () => number {
    let looks = 0;
    app.db.traceStatements((sql, run) => {
      if (/FROM `change_logs`/.test(sql)) looks += 1;
      return run();
    });
    return () => looks;
  }

  test('Changes-20: a cursor ahead of the node waits until the node has got to it', async () => {
    const { after, arrive } = await missingChange();
    const asked = countLooks();
    const answer = client.changes({ after });
    await eventually('it waits', () => asked() > 2);
    await arrive();
    expect(await answer).toMatchObject({ nodes: [], pageInfo: { endCursor: after } });
  });

  test('Changes-21: a cursor that the node does not get to is UNAVAILABLE with Retry-After, never GONE, and costs few statements', async () => {
    const { after, arrive } = await missingChange();
    const looks = countLooks();
    const { extensions } = await client.refusal({ after });
    expect(looks()).toBeLessThanOrEqual(12);
    expect(extensions).toMatchObject({ code: 'UNAVAILABLE', status: 503, retryAfterSeconds: 1 });
    await arrive();
    expect((await client.changes({ after })).nodes).toEqual([]);
  });

  test('Changes-22: a cursor ahead of the node is GONE at once if it is older than the last restore', async () => {
    const { after } = await missingChange();
    const restored = { name: RESTORED, value: BigInt(app.clock.now + 1) };
    await app.db.repository(ChangeSequence).save(restored);
    expect((await client.refusal({ after })).extensions.code).toBe('GONE');
  });

  test('Changes-23: a cursor whose number was used again after a restore is GONE', async () => {
    const { after } = await missingChange();
    app.clock.now += 1_000;
    await client.create('Max');
    expect((await client.refusal({ after })).extensions.code).toBe('GONE');
  });
});
