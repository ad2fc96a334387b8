import assert from 'node:assert/strict';
import { assertIncludes } from '../assertions.js';
import { rest } from '../http-client.js';
import { restBody, type Values } from '../inputs.js';
import { accepted } from '../noun-doors.js';
import type { Tenant } from '../tested-app.js';
import type { Suite } from './suite.js';

/** PATCH and DELETE, which REST has for a noun with the usual way to read one record. */
export const recordWrites: Suite = ({ noun, doors, app, fresh, testWith, beforeEach }) => {
  const { path, readScope, writeScope } = noun.names;
  let tenant: Tenant;
  let at: string;
  beforeEach(async () => {
    tenant = await app().tenant();
    at = `${path}/${accepted(await doors.rest.create(tenant.token, fresh())).id}`;
  });
  type Headers = Record<string, string>;
  const send = (method: string, headers: Headers = {}, body?: string, { token } = tenant) =>
    rest(app().url, at, { method, token, headers, ...(body !== undefined && { body }) });
  const patch = (values: Values, headers: Headers = {}, by = tenant) =>
    send('PATCH', headers, restBody(noun, values), by);
  const tag = async () => (await send('GET')).headers.get('etag') ?? '';
  const whole = noun.hasRecordWrites || null;
  const testOf = (name: string, body: () => Promise<void>) => testWith(whole, 'usual get', name, body);

  testOf('RecordWrites-9: PATCH changes the stated fields alone, and answers as GET does', async () => {
    const before = (await send('GET')).body;
    const changed = await patch(noun.change(0));
    const read = await send('GET');
    assert.deepEqual([changed.status, changed.text], [200, read.text]);
    assert.equal(changed.headers.get('etag'), read.headers.get('etag'));
    const shared = accepted(await doors.graphql.get(tenant.token, String(before.id)));
    assertIncludes(shared, noun.shown(noun.change(0)));
    const others = Object.keys(before).filter((name) => !(name in noun.change(0)));
    for (const name of others) assert.deepEqual([name, read.body[name]], [name, before[name]]);
  });

  testOf(
    'RecordWrites-10: with If-Match one of two writers wins, and the other changes nothing',
    async () => {
      const known = { 'if-match': await tag() };
      const answers = await Promise.all([patch(noun.change(0), known), patch(noun.change(1), known)]);
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412]);
      const [won] = answers.filter(({ status }) => status === 200);
      assert.equal((await send('GET')).text, won?.text);
      assert.equal((await send('DELETE', known)).status, 412);
      assert.equal((await send('DELETE', { 'if-match': await tag() })).status, 204);
      assert.equal((await send('GET')).status, 404);
    },
  );

  testOf('RecordWrites-11: a repeated Idempotency-Key changes and deletes once', async () => {
    const key = { 'idempotency-key': 'once' };
    const first = await patch(noun.change(0), key);
    await patch(noun.change(1));
    const again = await patch(noun.change(0), key);
    assert.deepEqual([again.status, again.text], [200, first.text]);
    assert.notEqual((await send('GET')).text, first.text);
    assert.equal((await patch(noun.change(2), key)).status, 422);
    const removal = { 'idempotency-key': 'removal' };
    for (let times = 0; times < 2; times += 1) assert.equal((await send('DELETE', removal)).status, 204);
    assert.equal((await send('DELETE')).status, 404);
  });

  testOf(
    'RecordWrites-12: another project, and a key without the scope, change and delete nothing',
    async () => {
      const before = (await send('GET')).text;
      const other = await app().tenant({ scopes: [readScope, writeScope] });
      assert.equal((await patch(noun.change(0), {}, other)).status, 404);
      assert.equal((await send('DELETE', {}, undefined, other)).status, 404);
      const reader = await app().app.services.apiKeys.create(
        { name: 'test', requestId: null },
        { projectId: tenant.projectId, name: 'reader', scopes: [readScope], expiresAtMs: null },
      );
      const by = { ...tenant, token: reader.token };
      assert.equal((await patch(noun.change(0), {}, by)).status, 403);
      assert.equal((await send('DELETE', {}, undefined, by)).status, 403);
      assert.equal((await send('GET')).text, before);
    },
  );

  testOf(
    'RecordWrites-13: an invalid PATCH is refused with the names of the fields, and changes nothing',
    async () => {
      const before = (await send('GET')).text;
      for (const [difference, fields] of noun.invalid) {
        if (fields.some((name) => !noun.changeable.includes(name))) continue;
        const { status, body } = await patch({ ...noun.change(0), ...difference });
        const named = (body.errors ?? []).map(({ field }: { field: string }) => field).sort();
        assert.deepEqual([difference, status, named], [difference, 400, fields]);
      }
      assert.equal((await patch({})).status, 400);
      assert.equal((await send('GET')).text, before);
    },
  );
};
