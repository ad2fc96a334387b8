import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { IsNull } from 'typeorm';
import { Domain } from '../../src/domains/store/domain.entity.js';
import { ChangeSequence, nextChange } from '../../src/ground/database/change-sequence.entity.js';
import { databaseKinds } from '../support/databases.js';
import { insertDomains } from '../support/domains/many-domains.js';
import { attach, change, remove } from '../support/domains/served-domain.js';
import { startApp, TEST_ACTOR, type TestApp } from '../support/start-app.js';

/** More than one page of the index's reads. */
const PAGE_AND_MORE = 5_001;

describe.each(databaseKinds())('on %s', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({ kind });
  });
  afterAll(() => app.stop());

  test('Domains-Index-2: all changes of one transaction are read, also when they exceed a page', async () => {
    const { hosts } = app.app;
    await hosts.sync();
    await insertDomains(app, PAGE_AND_MORE);
    await hosts.sync();
    expect(hosts.size).toBe(PAGE_AND_MORE);
    const gone: string[] = [];
    hosts.onGone((entries) => gone.push(...entries.map(({ hostname }) => hostname)));
    await app.db.transaction(async (manager) => {
      const changeNumber = await nextChange(manager);
      await manager.update(
        Domain,
        { removedAtMs: IsNull() },
        { attachedHostname: null, removedAtMs: 1, changeNumber },
      );
    });
    await hosts.sync();
    expect([hosts.size, new Set(gone).size]).toEqual([0, PAGE_AND_MORE]);
  });

  test('Domains-Index-3: after a failover that lost the last changes the whole index is read again', async () => {
    const { hosts } = app.app;
    const { projectId } = await app.tenant();
    const kept = await attach(app, projectId, { hostname: 'kept.example.com', certificate: false });
    const lost = await attach(app, projectId, { hostname: 'lost.example.com', certificate: false });
    await hosts.sync();
    await app.db.repository(Domain).delete({ id: lost.id });
    await app.db.repository(ChangeSequence).decrement({ name: 'hosts' }, 'value', 1);
    const gone: string[] = [];
    hosts.onGone((entries) => gone.push(...entries.map(({ hostname }) => hostname)));
    await hosts.sync();
    expect([hosts.findHost('lost.example.com'), gone]).toEqual([null, ['lost.example.com']]);
    // The change number of this removal was already seen before the failover.
    await remove(app, kept);
    await hosts.sync();
    expect(hosts.findHost('kept.example.com')).toBeNull();
  });

  test('Domains-Index-4: simultaneous calls of sync share one read, and a read begins after each call', async () => {
    const { hosts } = app.app;
    const { projectId, slug } = await app.tenant({ plan: 'PRO' });
    const domain = await attach(app, projectId, { hostname: 'busy.example.com', certificate: false });
    const first = hosts.sync();
    const second = hosts.sync();
    expect(hosts.sync()).toBe(second);
    await Promise.all([first, second]);
    expect(hosts.findHost('busy.example.com')).toMatchObject({
      projectId,
      domainId: domain.id,
      redirect: null,
    });
    await change(app, domain.id, { redirectTo: 'a.example.com', redirectStatus: 302, suspendedAtMs: 1 });
    await hosts.sync();
    expect(hosts.findHost('busy.example.com')).toBeNull();
    await change(app, domain.id, { suspendedAtMs: null });
    await app.app.services.projects.change(TEST_ACTOR, slug, { plan: 'BUSINESS' });
    await hosts.sync();
    expect(hosts.findHost('busy.example.com')?.redirect).toEqual({ to: 'a.example.com', status: 302 });
  });
});
