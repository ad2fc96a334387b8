import { beforeEach, expect, test } from '@jest/globals';
import { parse, validate } from 'graphql';
import { exampleQueries } from '../../browser/pages/graphiql/example-queries.js';
import { createGateway, loadGateway } from '../../src/app/gateway.js';
import { generated } from '../../src/cli/types/generated-file.js';
import type { Scope } from '../../src/ground/kernel/caller.js';
import { REPLAYED } from '../../src/request/http/headers.js';
import { openLog } from '../support/changes/changes.js';
import { graphql, rest, servedSchema } from '../support/http/client.js';
import { deliveries } from '../support/nouns/deliveries.js';
import { onEachDatabase } from '../support/on-databases.js';
import { TEST_ACTOR, type Tenant } from '../support/start-app.js';

const NOW = Date.parse('2026-11-24T10:00:00Z');
const AT = '2026-11-24T09:30:00.000Z';
const OTHER_TAG = '"123456789012345678901234567"';

onEachDatabase(
  (app) => {
    let tenant: Tenant;
    let id: string;
    beforeEach(async () => {
      tenant = await app().tenant();
      await openLog(app(), tenant);
      id = String((await send('', { method: 'POST', body: { code: 'PX4711' } })).body.id);
    });
    const send = (path: string, init = {}, token = tenant.token) =>
      rest(app().url, `/v1/deliveries${path}`, { token, ...init });
    const act = (action: string, body?: unknown, headers: Record<string, string> = {}, token?: string) =>
      send(`/${id}/${action}`, { method: 'POST', headers, ...(body === undefined ? {} : { body }) }, token);
    const mutate = (query: string, headers: Record<string, string> = {}, token = tenant.token) =>
      graphql(app().url, `mutation { ${query} }`, { token, headers });
    const codeOf = async (answer: ReturnType<typeof mutate>) =>
      (await answer).body.errors?.[0].extensions.code;
    const nowText = () => new Date(app().clock.now).toISOString();
    const stored = async () => (await send(`/${id}`)).body;
    const logged = async () => {
      const { body } = await send('/changes');
      return body.map(({ kind, delivery }: { kind: string; delivery: { state: string } }) => [
        kind,
        delivery.state,
      ]);
    };
    const keyWith = async (...scopes: Scope[]) => {
      const wanted = { projectId: tenant.projectId, name: 'scanner', scopes, expiresAtMs: null };
      return (await app().app.services.apiKeys.create(TEST_ACTOR, wanted)).token;
    };

    test('Action-1: both APIs do an action: its function gets the record, the checked input and the time', async () => {
      const done = await act(
        'deliver',
        `{"at":"2026-11-24T10:30:00+01:00","signature":"Ada","weightGrams":9007199254740993}`,
      );
      const expected = {
        code: 'PX4711',
        state: 'delivered',
        deliveredAt: AT,
        signature: 'Ada',
        tags: ['gift'],
      };
      expect(done).toMatchObject({ status: 200, body: { ...expected, weightGrams: 9007199254740993n } });
      const read = await send(`/${id}`);
      expect([done.text, done.headers.get('etag')]).toEqual([read.text, read.headers.get('etag')]);
      expect(done.headers.get('x-ratelimit-limit')).not.toBeNull();
      const { body } = await mutate(
        `a: retryDelivery(id: "${id}") { attempts } b: markLostDelivery(id: "${id}") { tags } c: markLostDelivery(id: "${id}", input: {reason: stolen}) { tags }`,
      );
      expect(body.data).toEqual({
        a: { attempts: 1 },
        b: { tags: ['gift', 'unknown'] },
        c: { tags: ['gift', 'unknown', 'stolen'] },
      });
      expect(await logged()).toEqual([
        ['created', 'waiting'],
        ['updated', 'delivered'],
        ['updated', 'delivered'],
        ['updated', 'lost'],
        ['updated', 'lost'],
      ]);
      const other = await send('', { method: 'POST', body: { code: 'PX2' } });
      const now = await send(`/${other.body.id}/deliver`, {
        method: 'POST',
        body: { signature: 'Bo', tags: [] },
      });
      expect(now.body).toMatchObject({ deliveredAt: nowText(), tags: [] });
    });

    test('Action-2: a refusal answers 409 with its words, a wrong value 400 with its field, and nothing is changed', async () => {
      const before = await stored();
      const refused: [unknown, string][] = [
        [{}, 'signature'],
        ['[]', 'body'],
        ['null', 'signature'],
        [{ signature: 1 }, 'signature'],
        [{ signature: 'Ada', at: new Date(app().clock.now + 1).toISOString() }, 'at'],
        [{ signature: 'Ada', at: '1999-11-24T10:00:00Z' }, 'deliveredAt'],
        [{ signature: 'Ada', tags: ['a', 'b', 'c', 'd'] }, 'tags'],
        [{ signature: 'x'.repeat(50) }, 'signature'],
        [{ signature: 'X' }, 'signature'],
      ];
      for (const [body, field] of refused) {
        const answer = await act('deliver', body);
        expect([body, answer.status, answer.body.errors?.[0].field]).toEqual([body, 400, field]);
      }
      expect(await stored()).toEqual(before);
      expect((await act('deliver', { signature: 'Ada' })).status).toBe(200);
      const message = `It was delivered at ${nowText()}.`;
      const again = await act('deliver', { signature: 'Bo' });
      expect(again).toMatchObject({ status: 409, body: { code: 'conflict', message } });
      const { body } = await mutate(`deliverDelivery(id: "${id}", input: {signature: "Bo"}) { id }`);
      expect(body.errors[0]).toMatchObject({ message, extensions: { code: 'CONFLICT', status: 409 } });
      expect(await stored()).toMatchObject({ signature: 'Ada' });
      expect(await logged()).toHaveLength(2);
      for (const unknown of ['1', 'x'])
        expect((await send(`/${unknown}/retry`, { method: 'POST' })).status).toBe(404);
      expect((await send(`/${id}/return`, { method: 'POST' })).status).toBe(404);
      const wrongMethod = await send(`/${id}/deliver`);
      expect([wrongMethod.status, wrongMethod.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    });

    test('Action-3: with If-Match an action is done only to the record as it was read; of many at once each sees the last', async () => {
      const tag = (await send(`/${id}`)).headers.get('etag') as string;
      expect((await act('retry', undefined, { 'if-match': OTHER_TAG })).status).toBe(412);
      const one = await Promise.all(['A', 'B', 'C'].map(() => act('retry', undefined, { 'if-match': tag })));
      expect(one.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
      const two = await Promise.all(['A', 'B', 'C'].map(() => act('retry')));
      expect(two.map(({ status, body }) => (status === 200 ? body.attempts : status)).sort()).toEqual([
        2, 3, 400,
      ]);
    });

    test('Action-4: a repeated Idempotency-Key does nothing and answers as the first request, at both doors', async () => {
      const key = { 'idempotency-key': 'deliver' };
      const first = await act('deliver', { signature: 'Ada' }, key);
      await act('retry');
      app().clock.now += 1_000;
      const again = await act('deliver', { signature: 'Ada' }, key);
      expect([again.text, again.headers.get('etag'), again.headers.get(REPLAYED)]).toEqual([
        first.text,
        first.headers.get('etag'),
        'true',
      ]);
      const answer = await mutate(
        `deliverDelivery(id: "${id}", input: {signature: "Ada"}) { attempts }`,
        key,
      );
      expect(answer.body.data.deliverDelivery).toEqual({ attempts: 0 });
      for (const body of [{ signature: 'Bo' }, { signature: 'Ada', at: AT }, { signature: 'Ada', tags: [] }])
        expect((await act('deliver', body, key)).status).toBe(422);
      expect((await act('retry', undefined, key)).status).toBe(422);
      expect((await act('deliver', { signature: 'Bo' }, { 'idempotency-key': 'refused' })).status).toBe(409);
      expect((await act('deliver', { signature: 'X' }, { 'idempotency-key': 'refused' })).status).toBe(409);
      expect(await logged()).toHaveLength(3);
    });

    test('Action-5: a key with the scope of an action alone does it, and nothing else', async () => {
      const scanner = await keyWith('deliveries:deliver');
      const key = { 'idempotency-key': 'scan' };
      const status = async (path: string, method: string, body?: unknown) =>
        (await send(path, { method, ...(body !== undefined && { body }) }, scanner)).status;
      const elsewhere = [
        ...[status('', 'GET'), status('', 'POST', { code: 'PX2' }), status('/changes', 'GET')],
        ...[status(`/${id}`, 'GET'), status(`/${id}`, 'PATCH', { code: 'PX2' }), status(`/${id}`, 'DELETE')],
        ...[status(`/${id}/retry`, 'POST'), status(`/${id}/markLost`, 'POST')],
      ];
      expect(await Promise.all(elsewhere)).toEqual(elsewhere.map(() => 403));
      const others = [
        ...['createDelivery(input: {code: "A"}) { id }', 'createDeliveries(inputs: [{code: "A"}]) { id }'],
        ...[`updateDelivery(id: "${id}", input: {code: "A"}) { id }`, `deleteDelivery(id: "${id}") { id }`],
        ...[`retryDelivery(id: "${id}") { id }`, `markLostDelivery(id: "${id}") { id }`],
        'createApiKey(input: {name: "a", scopes: [DELIVERIES_DELIVER]}) { token }',
      ];
      for (const other of others)
        expect([other, await codeOf(mutate(other, {}, scanner))]).toEqual([other, 'FORBIDDEN']);
      for (const query of [
        `{ delivery(id: "${id}") { id } }`,
        '{ deliveries { nodes { id } } }',
        '{ deliveryChanges { nodes { kind } } }',
      ])
        expect((await graphql(app().url, query, { token: scanner })).body.errors[0].extensions.code).toBe(
          'FORBIDDEN',
        );

      const deliver = (fields: string, headers = {}) =>
        mutate(`deliverDelivery(id: "${id}", input: {signature: "Ada"}) { ${fields} }`, headers, scanner);
      const hidden = await deliver('id code', key);
      expect(hidden.body.errors[0].message).toContain('needs for code');
      expect(await stored()).toMatchObject({ state: 'waiting' });
      expect((await deliver('id state signature __typename', key)).body.data.deliverDelivery).toEqual({
        ...{ id, state: 'delivered', signature: 'Ada', __typename: 'Delivery' },
      });
      expect(await codeOf(deliver('id createdAt', key))).toBe('FORBIDDEN');
      const replayed = await act('deliver', { signature: 'Ada' }, key, scanner);
      expect([replayed.status, replayed.text, replayed.headers.get('etag')]).toEqual([204, '', null]);
      expect(replayed.headers.get(REPLAYED)).toBe('true');
    });

    test('Action-6: the scope to write does no action, and a key is made with the scope of an action through GraphQL', async () => {
      const writer = await keyWith('deliveries:read', 'deliveries:write');
      const refused = await act('deliver', { signature: 'Ada' }, {}, writer);
      const message = 'This API key lacks the scope deliveries:deliver. Use a key that has it.';
      expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden', message } });
      const { body } = await mutate(
        'createApiKey(input: {name: "lost", scopes: [DELIVERIES_MARKLOST]}) { token key { scopes } }',
      );
      const { token, key } = body.data.createApiKey;
      expect(key.scopes).toEqual(['DELIVERIES_MARKLOST']);
      expect((await act('markLost', {}, {}, token)).status).toBe(204);
      expect((await act('retry', undefined, {}, token)).status).toBe(403);
    });

    test('Action-11: OpenAPI, the generated client and GraphiQL have each action with its input', async () => {
      const document = (await rest(app().url, '/v1/openapi.json')).body;
      const { post } = document.paths['/deliveries/{deliveryId}/deliver'];
      const errors = [
        '400',
        '401',
        '403',
        '404',
        '406',
        '409',
        '412',
        '413',
        '415',
        '421',
        '422',
        '429',
        '500',
        '503',
      ];
      expect(post).toMatchObject({
        operationId: 'deliverDelivery',
        summary: 'Hands a delivery over',
        security: [{ apiKey: ['deliveries:deliver'] }],
      });
      expect(Object.keys(post.responses)).toEqual(['200', '204', ...errors]);
      expect(post.parameters.map(({ name }: { name: string }) => name)).toEqual([
        'Idempotency-Key',
        'deliveryId',
        'If-Match',
      ]);
      expect(Object.keys(document.components.schemas.DeliverDeliveryInput.properties)).toEqual([
        'at',
        'signature',
        'weightGrams',
        'tags',
      ]);
      expect(document.components.schemas.DeliverDeliveryInput.required).toEqual(['signature']);
      expect(document.paths['/deliveries/{deliveryId}/retry'].post.requestBody).toBeUndefined();
      const { types } = generated(document);
      expect(types).toContain(
        'deliverDelivery(deliveryId: bigint, body: DeliverDeliveryInput, options?: client.CallOptions): Promise<Delivery | undefined>;',
      );
      expect(types).toContain(
        'retryDelivery(deliveryId: bigint, options?: client.CallOptions): Promise<Delivery | undefined>;',
      );
      const example = await act('deliver', post.requestBody.content['application/json'].examples.whole.value);
      expect(example.status).toBe(200);

      const schema = await servedSchema(app().url);
      const names = schema.getMutationType()?.getFields() ?? {};
      expect(names.deliverDelivery?.args.map(({ type }) => String(type))).toEqual([
        'ID!',
        'DeliverDeliveryInput!',
      ]);
      expect(names.markLostDelivery?.args.map(({ type }) => String(type))).toEqual([
        'ID!',
        'MarkLostDeliveryInput',
      ]);
      expect(names.retryDelivery?.args.map(({ type }) => String(type))).toEqual(['ID!']);
      expect(names.retryDelivery?.description).toContain(
        'Retry a delivery. Needs the scope `deliveries:retry`.',
      );
      const examples = exampleQueries([deliveries.description]).filter(({ query }) =>
        /Delivery\(id/.test(query),
      );
      expect(examples.map(({ task }) => task)).toEqual([
        'Change a delivery',
        'Hands a delivery over',
        'Retry a delivery',
        'Gives a delivery up',
      ]);
      for (const { query } of examples) expect(validate(schema, parse(query))).toEqual([]);
    });
  },
  { now: NOW, gateway: () => loadGateway(createGateway({ name: 'Deliveries', nouns: [deliveries] })) },
);
