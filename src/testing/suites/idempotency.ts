import assert from 'node:assert/strict';
import { assertIncludes } from '../assertions.js';
import { graphql, rest } from '../http-client.js';
import { literal, restBody, type Values } from '../inputs.js';
import { accepted } from '../noun-doors.js';
import type { Tenant } from '../tested-app.js';
import type { Suite } from './suite.js';

export const idempotency: Suite = ({ noun, doors, app, test, beforeEach }) => {
  const { names, int64, filter, integers } = noun;
  const CREATE = `mutation($input: ${names.newInput}!) { it: ${names.create}(input: $input) { ${names.fields} } }`;
  const UPDATE = `mutation($id: ID!, $input: ${names.changes}!) { it: ${names.update}(id: $id, input: $input) { id } }`;
  const createOf = (n: number) => `${names.create}(input: ${literal(noun, noun.input(n))}) { id }`;

  let tenant: Tenant;
  beforeEach(async () => {
    tenant = await app().tenant();
  });
  const post = (key: string, input: Values = noun.input(0), token = tenant.token) => {
    const headers = { 'idempotency-key': key };
    return rest(app().url, names.path, { method: 'POST', token, body: restBody(noun, input), headers });
  };
  const mutate = (key: string, query: string, variables: Values = {}) =>
    graphql(app().url, query, { token: tenant.token, variables, headers: { 'idempotency-key': key } });
  const codeOf = async (answer: ReturnType<typeof mutate>) => (await answer).body.errors?.[0].extensions.code;
  const count = async () => accepted(await doors.graphql.list(tenant.token, { size: 100 })).records.length;

  test('Idempotency-1: a repeated POST replays status, body and Location and creates nothing', async () => {
    const first = await post('a');
    const reordered = Object.fromEntries(Object.entries(noun.input(0)).reverse());
    const again = await post('a', { ...reordered, unknown: true });
    assert.deepEqual(
      [again.status, again.text, again.headers.get('location')],
      [201, first.text, first.headers.get('location')],
    );
    assert.equal(await count(), 1);
  });

  test('Idempotency-40: a stored answer is marked as replayed at both doors, and no other answer is', async () => {
    const markOf = async (answer: Promise<{ headers: Headers }>) =>
      (await answer).headers.get('idempotent-replayed');
    const both = `mutation { a: ${createOf(2)} b: ${createOf(3)} }`;
    assert.equal(await markOf(post('marked')), null);
    assert.equal(await markOf(post('marked')), 'true');
    assert.equal(await markOf(post('marked', noun.input(1))), null);
    assert.equal(await markOf(mutate('marked', CREATE, { input: noun.input(0) })), 'true');
    assert.equal(await markOf(mutate('two', `mutation { a: ${createOf(1)} }`)), null);
    assert.equal(await markOf(mutate('two', both)), null);
    assert.equal(await markOf(mutate('two', both)), 'true');
    assert.equal(await count(), 4);
  });

  test('Idempotency-2: the replayed answer is the first answer, even after the record was changed', async () => {
    const first = await post('changed');
    const listed = async () => (await rest(app().url, names.path, { token: tenant.token })).text;
    assert.equal(await listed(), `[${first.text}]`);
    const change = { id: String(first.body.id), input: noun.change(0) };
    assert.equal(await codeOf(mutate('x', UPDATE, change)), undefined);
    assert.equal((await post('changed')).text, first.text);
    assert.notEqual(await listed(), `[${first.text}]`);
  });

  test('Idempotency-3: both doors share one store, and digits are exact', async () => {
    for (const [at, values] of integers.entries()) {
      const input = { ...noun.input(at), ...values };
      const made = await post(`both${at}`, input);
      const { body } = await mutate(`both${at}`, CREATE, { input });
      assertIncludes(body.data.it, { id: String(made.body.id), ...noun.shown(input) });
    }
    assert.equal(await count(), integers.length);
  });

  test('Idempotency-4: another payload answers 422, at both doors', async () => {
    await post('payload');
    const others = [
      noun.input(1),
      ...(int64 ? [{ ...noun.input(0), ...integers[0] }] : []),
      ...(filter ? [{ ...noun.input(0), ...noun.chosen(0) }] : []),
    ];
    for (const input of others) {
      const refused = await post('payload', input);
      assert.deepEqual([refused.status, refused.body.code], [422, 'idempotency_mismatch']);
      const { body } = await mutate('payload', CREATE, { input });
      assert.deepEqual(body.errors[0].extensions, { code: 'IDEMPOTENCY_MISMATCH', status: 422 });
    }
    assert.equal(await count(), 1);
  });

  test('Idempotency-5: of 20 simultaneous requests one does the work, the others get its answer or 409 with Retry-After', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('race')));
    const made = new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text));
    assert.equal(made.size, 1);
    for (const { status, headers, body } of answers.filter(({ status }) => status !== 201)) {
      assert.deepEqual([status, body.code, headers.get('retry-after')], [409, 'conflict', '1']);
    }
    assert.equal(await count(), 1);
  });

  test('Idempotency-6: a refusal leaves the key free for the corrected request', async () => {
    const [[difference] = [filter ? { [filter.field]: 'no-such-choice' } : {}]] = noun.invalid;
    if (Object.keys(difference).length > 0)
      assert.equal((await post('refused', { ...noun.input(0), ...difference })).status, 400);
    assert.equal((await post('refused')).status, 201);
    const update = (id: string) => mutate('missing', UPDATE, { id, input: noun.change(0) });
    assert.equal(await codeOf(update('1')), 'NOT_FOUND');
    const { body } = await post('other', noun.input(1));
    assert.equal((await update(String(body.id))).body.data.it.id, String(body.id));
  });

  test('Idempotency-9: in one operation each mutation uses the key separately, by alias', async () => {
    const query = `mutation { a: ${createOf(0)} b: ${createOf(1)} }`;
    const first = await mutate('several', query);
    assert.deepEqual((await mutate('several', query)).body, first.body);
    assert.notEqual(first.body.data.a.id, first.body.data.b.id);
    assert.equal(await count(), 2);
  });

  test('Idempotency-20: the same key of another project reads no stored answer of this one', async () => {
    const owners = [tenant, await app().tenant()];
    const send = async () => {
      const ids: unknown[] = [];
      for (const { token } of owners) ids.push((await post('shared', undefined, token)).body.id);
      return ids;
    };
    const first = await send();
    assert.equal(new Set(first).size, 2);
    assert.deepEqual(await send(), first);
  });

  test('Idempotency-21: the payload of a change counts each field, and an absent one differs from null', async () => {
    const { body } = await post('to-update');
    const update = async (key: string, input: Values) =>
      (await codeOf(mutate(key, UPDATE, { id: String(body.id), input }))) ?? 'updated';
    const inputs = [
      noun.change(0),
      ...(filter ? [{ ...noun.change(0), [filter.field]: filter.usual }] : []),
      ...(filter ? [{ ...noun.change(0), ...noun.chosen(0) }] : []),
      ...(int64 ? [{ ...noun.change(0), ...integers[0] }] : []),
      noun.change(1),
    ];
    for (const [at, first] of inputs.entries()) {
      const key = `update-${at}`;
      assert.equal(await update(key, first), 'updated');
      const answers = await Promise.all(inputs.map((input) => update(key, input)));
      assert.deepEqual(
        answers,
        inputs.map((input) => (input === first ? 'updated' : 'IDEMPOTENCY_MISMATCH')),
      );
    }
  });

  for (const key of ['', 'x'.repeat(256), 'a b', 'é']) {
    test(`Idempotency-10: refuses the key ${JSON.stringify(key)} with 400`, async () => {
      const refused = await post(key);
      assert.deepEqual([refused.status, refused.body.errors?.[0].field], [400, 'Idempotency-Key']);
    });
  }
};
