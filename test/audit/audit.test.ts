import { describe, expect, test } from '@jest/globals';
import { AuditEvent } from '../../src/tenants/audit/audit-event.entity.js';
import { callAs } from '../support/call-as.js';
import { databaseKinds } from '../support/databases.js';
import { graphql } from '../support/http/client.js';
import { onEachDatabase } from '../support/on-databases.js';
import { startApp } from '../support/start-app.js';

const FIELDS =
  'nodes { id at actor action subject requestId detail { name value } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';

interface Event {
  id: string;
  actor: string;
  action: string;
  subject: string;
  requestId: string | null;
  detail: { name: string; value: string | null }[];
}

onEachDatabase((app) => {
  const read = async (token: string, args = '') => {
    const { body } = await graphql(app().url, `{ project { auditEvents${args} { ${FIELDS} } } }`, { token });
    expect(body.errors).toBeUndefined();
    return body.data.project.auditEvents as { nodes: Event[]; pageInfo: Record<string, unknown> };
  };
  const acts = (projectId: bigint, count: number) => {
    const actor = { name: 'cli:root', requestId: null };
    const { audit } = app().app.services;
    const all = Array.from({ length: count }, (_, at) => ({
      action: 'test.act',
      projectId,
      subject: String(at),
    }));
    return app().db.transaction((manager) => audit.record(manager, actor, ...all));
  };

  test('Audit-14: a filter selects acts by kind and by the key that acted; its pages follow each other', async () => {
    const { token, projectId, keyId } = await app().tenant();
    await acts(projectId, 3);
    for (const name of ['one', 'two', 'three']) {
      const document = `mutation { createApiKey(input: {name: "${name}", scopes: [TOYS_READ]}) { key { id } } }`;
      await graphql(app().url, document, { token });
    }
    const actions = async (filter: string) =>
      (await read(token, `(filter: ${filter})`)).nodes.map(({ action }) => action);
    expect(await actions('{kind: "key"}')).toEqual(['key.create', 'key.create', 'key.create', 'key.create']);
    expect(await actions('{kind: "test"}')).toEqual(['test.act', 'test.act', 'test.act']);
    expect(await actions(`{keyId: "${keyId}"}`)).toEqual(['key.create', 'key.create', 'key.create']);
    expect(await actions(`{kind: "test", keyId: "${keyId}"}`)).toEqual([]);
    expect(await actions('{keyId: "9223372036854775808"}')).toEqual([]);
    const first = await read(token, '(first: 2, filter: {kind: "key"})');
    const after = first.pageInfo.endCursor;
    const second = await read(token, `(first: 2, after: "${after}", filter: {kind: "key"})`);
    expect([...first.nodes, ...second.nodes].map(({ action }) => action)).toEqual(
      Array(4).fill('key.create'),
    );
    expect(second.pageInfo.hasNextPage).toBe(false);
    for (const args of [`after: "${after}"`, 'filter: {kind: "%"}', 'filter: {kind: "key.create"}']) {
      const { body } = await graphql(app().url, `{ project { auditEvents(${args}) { ${FIELDS} } } }`, {
        token,
      });
      expect([args, body.errors[0].extensions.code]).toEqual([args, 'INVALID_REQUEST']);
    }
  });

  test('Audit-3: the owner reads acts, newest first, with their actor, subject, request and details as people read them', async () => {
    const { token, slug, keyId, projectId } = await app().tenant();
    const { projects, apiKeys } = app().app.services;
    await projects.change({ name: 'cli:root', requestId: null }, slug, {
      plan: 'PRO',
      perMinute: null,
      perDay: null,
    });
    const created = await graphql(
      app().url,
      'mutation { createApiKey(input: {name: "Checkout", scopes: [TOYS_READ]}) { key { id prefix } } }',
      { token },
    );
    const { id, prefix } = created.body.data.createApiKey.key;
    const untilMs = app().clock.now + 60_000;
    await apiKeys.recordBan({ name: 'limiter', requestId: 'r-1' }, { keyId: BigInt(id), projectId }, untilMs);

    const { nodes } = await read(token);
    const own = `API key test (${(await apiKeys.get(keyId)).prefix}…)`;
    const checkout = { name: 'key', value: `Checkout (${prefix}…)` };
    expect(nodes.map(({ id: _, ...event }) => event)).toEqual([
      {
        at: new Date(app().clock.now).toISOString(),
        actor: 'The rate limiter',
        action: 'key.ban',
        subject: id,
        requestId: 'r-1',
        detail: [checkout, { name: 'until', value: new Date(untilMs).toISOString() }],
      },
      expect.objectContaining({
        actor: own,
        action: 'key.create',
        requestId: created.headers.get('x-request-id'),
        detail: [checkout, { name: 'scopes', value: 'toys:read' }, { name: 'expiresAt', value: null }],
      }),
      expect.objectContaining({
        actor: 'Operator, on the command line',
        action: 'project.change',
        subject: slug,
        requestId: null,
        detail: expect.arrayContaining([{ name: 'plan', value: 'PRO' }]),
      }),
      expect.objectContaining({ action: 'key.create', subject: String(keyId) }),
      expect.objectContaining({ action: 'project.create', subject: slug }),
    ]);
  });

  test('Audit-4: pages follow each other without a gap or a repetition, also while acts are added', async () => {
    const { token, projectId } = await app().tenant();
    await acts(projectId, 7);
    const seen: string[] = [];
    let after = '';
    for (let page = 0; page < 3; page += 1) {
      const { nodes, pageInfo } = await read(token, `(first: 3${after})`);
      expect(pageInfo).toMatchObject({ hasNextPage: page < 2, hasPreviousPage: page > 0 });
      seen.push(...nodes.map(({ subject, action }) => (action === 'test.act' ? subject : action)));
      after = `, after: "${pageInfo.endCursor}"`;
      await acts(projectId, 1);
    }
    expect(seen).toEqual(['6', '5', '4', '3', '2', '1', '0', 'key.create', 'project.create']);
  });

  test('Audit-5: a project sees only its own acts, and no key or request of the project that took its domain', async () => {
    const [mine, theirs] = [await app().tenant(), await app().tenant()];
    await acts(theirs.projectId, 1);
    const { audit } = app().app.services;
    const act = { action: 'domain.move_away', projectId: mine.projectId, subject: 'shop.example.com' };
    const { actor } = callAs(theirs);
    await app().db.transaction((manager) => audit.record(manager, actor, act));
    const { nodes } = await read(mine.token);
    expect(nodes.map(({ action }) => action)).toEqual(['domain.move_away', 'key.create', 'project.create']);
    expect(nodes[0]).toMatchObject({ actor: 'Another project', requestId: null });
    expect(JSON.stringify(nodes)).not.toContain(String(theirs.keyId));
  });

  test('Audit-6: reading needs the scope keys, 1 to 100 events a page, and a cursor of this list', async () => {
    const { token, projectId } = await app().tenant();
    const { token: weak } = await app().tenant({ scopes: ['toys:read', 'domains'] });
    const codes = async (args: string, key = token) => {
      const query = `{ project { auditEvents${args} { nodes { id } } } }`;
      const { body } = await graphql(app().url, query, { token: key });
      return body.errors?.[0].extensions;
    };
    expect(await codes('', weak)).toMatchObject({ code: 'FORBIDDEN' });
    await acts(projectId, 1);
    for (const size of [0, 101, -1]) {
      expect(await codes(`(first: ${size})`)).toMatchObject({
        code: 'INVALID_REQUEST',
        errors: [{ field: 'first' }],
      });
    }
    const foreign = Buffer.from('toy:1').toString('base64url');
    const padded = Buffer.from('audit:01').toString('base64url');
    for (const cursor of ['', 'x', foreign, padded]) {
      expect(await codes(`(after: "${cursor}")`)).toMatchObject({
        code: 'INVALID_REQUEST',
        errors: [{ field: 'after' }],
      });
    }
    expect(await codes('(first: 100)')).toBeUndefined();
  });

  test('Audit-7: aliases with different pages each get their own', async () => {
    const { token, projectId } = await app().tenant();
    await acts(projectId, 4);
    const { nodes, pageInfo } = await read(token, '(first: 2)');
    const { body } = await graphql(
      app().url,
      `{ a: project { auditEvents(first: 1) { nodes { id } } b: auditEvents(first: 2) { nodes { id } } }
         c: project { auditEvents(first: 100, after: "${pageInfo.endCursor}") { nodes { id subject } } } }`,
      { token },
    );
    const ids = nodes.map(({ id }) => ({ id }));
    expect(body.data.a).toEqual({ auditEvents: { nodes: ids.slice(0, 1) }, b: { nodes: ids } });
    expect(body.data.c.auditEvents.nodes.map(({ subject }: Event) => subject).slice(0, 2)).toEqual([
      '1',
      '0',
    ]);
  });
});

describe.each(databaseKinds())('on %s', (kind) => {
  test('Audit-8: a page is one index range, however many acts there are', async () => {
    const queries: { sql: string; parameters: unknown[] }[] = [];
    const running = await startApp({ kind, onQuery: (sql, parameters) => queries.push({ sql, parameters }) });
    try {
      const tenant = await running.tenant();
      const other = await running.tenant();
      const row = {
        actor: 'cli:root',
        action: 'test.act',
        subject: 'x',
        requestId: null,
        detail: null,
        atMs: 0,
      };
      const { ids, projectAudit } = running.app.services;
      for (const { projectId } of [other, tenant, other, tenant]) {
        const rows = Array.from({ length: 1_000 }, () => ({ id: ids.next(), projectId, ...row }));
        await running.db.repository(AuditEvent).insert(rows);
      }
      const { manager } = running.db.repository(AuditEvent);
      await manager.query(kind === 'sqlite' ? 'ANALYZE' : 'ANALYZE TABLE audit_events');
      queries.length = 0;
      const wanted = [
        { pageSize: 2, beforeId: null, filter: {} },
        { pageSize: 50, beforeId: ids.next(), filter: { kind: 'key' } },
      ];
      await projectAudit.read(callAs(tenant), wanted);
      const [read] = queries.filter(({ sql }) => sql.includes('FROM audit_events'));
      const explain =
        kind === 'sqlite'
          ? 'EXPLAIN QUERY PLAN'
          : kind === 'mysql'
            ? 'EXPLAIN FORMAT=TRADITIONAL'
            : 'EXPLAIN';
      const rows: { table?: string }[] = await manager.query(`${explain} ${read?.sql}`, read?.parameters);
      const reads = rows.filter(({ table }) => !table?.startsWith('<'));
      const plan = JSON.stringify(reads, (_, value) => (typeof value === 'bigint' ? Number(value) : value));
      expect(plan).toContain('audit_events_project');
      expect(plan).not.toMatch(/filesort|temporary|\bSCAN audit|TEMP B-TREE|"type":"(ALL|index)"/i);
    } finally {
      await running.stop();
    }
  });
});
