import { beforeEach, expect, test } from '@jest/globals';
import { graphql, rest } from '../../support/http/client.js';
import { accepted, doorsOf } from '../../support/nouns/noun-doors.js';
import { int64Values, literal, restBody, type Values } from '../../support/nouns/test-noun.js';
import type { Tenant } from '../../support/start-app.js';
import type { Suite } from '../suites.js';

export const idempotency: Suite = (noun, names, app) => {
  const { int64, filter } = noun;
  const integers = int64Values(noun);
  const doors = doorsOf(noun, names, () => app().url);
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
    expect([again.status, again.text, again.headers.get('location')]).toEqual([
      201,
      first.text,
      first.headers.get('location'),
    ]);
    expect(await count()).toBe(1);
  });

  test('Idempotency-40: a stored answer is marked as replayed at both doors, and no other answer is', async () => {
    const markOf = async (answer: Promise<{ headers: Headers }>) =>
      (await answer).headers.get('idempotent-replayed');
    const both = `mutation { a: ${createOf(2)} b: ${createOf(3)} }`;
    expect(await markOf(post('marked'))).toBeNull();
    expect(await markOf(post('marked'))).toBe('true');
    expect(await markOf(post('marked', noun.input(1)))).toBeNull();
    expect(await markOf(mutate('marked', CREATE, { input: noun.input(0) }))).toBe('true');
    expect(await markOf(mutate('two', `mutation { a: ${createOf(1)} }`))).toBeNull();
    expect(await markOf(mutate('two', both))).toBeNull();
    expect(await markOf(mutate('two', both))).toBe('true');
    expect(await count()).toBe(4);
  });

  test('Idempotency-2: the replayed answer is the first answer, even after the record was changed', async () => {
    const first = await post('changed');
    const change = { id: String(first.body.id), input: noun.change(0) };
    expect(await codeOf(mutate('x', UPDATE, change))).toBeUndefined();
    expect((await post('changed')).text).toBe(first.text);
    const current = await rest(app().url, `${names.path}/${first.body.id}`, { token: tenant.token });
    expect(current.text).not.toBe(first.text);
  });

  test('Idempotency-3: both doors share one store, and digits are exact', async () => {
    for (const [at, values] of integers.entries()) {
      const input = { ...noun.input(at), ...values };
      const made = await post(`both${at}`, input);
      const { body } = await mutate(`both${at}`, CREATE, { input });
      expect(body.data.it).toMatchObject({ id: String(made.body.id), ...input });
    }
    expect(await count()).toBe(integers.length);
  });

  test('Idempotency-4: another payload answers 422, at both doors', async () => {
    await post('payload');
    const others = [
      noun.input(1),
      ...(int64 ? [{ ...noun.input(0), ...integers[0] }] : []),
      { ...noun.input(0), [filter.field]: filter.values[0] },
    ];
    for (const input of others) {
      const refused = await post('payload', input);
      expect([refused.status, refused.body.code]).toEqual([422, 'idempotency_mismatch']);
      const { body } = await mutate('payload', CREATE, { input });
      expect(body.errors[0].extensions).toEqual({ code: 'IDEMPOTENCY_MISMATCH', status: 422 });
    }
    expect(await count()).toBe(1);
  });

  test('Idempotency-5: of 20 simultaneous requests one does the work, the others get its answer or 409 with Retry-After', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('race')));
    const made = new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text));
    expect(made.size).toBe(1);
    for (const { status, headers, body } of answers.filter(({ status }) => status !== 201)) {
      expect([status, body.code, headers.get('retry-after')]).toEqual([409, 'conflict', '1']);
    }
    expect(await count()).toBe(1);
  });

  test('Idempotency-6: a refusal leaves the key free for the corrected request', async () => {
    const [[difference] = [{}]] = noun.invalid;
    expect((await post('refused', { ...noun.input(0), ...difference })).status).toBe(400);
    expect((await post('refused')).status).toBe(201);
    const update = (id: string) => mutate('missing', UPDATE, { id, input: noun.change(0) });
    expect(await codeOf(update('1'))).toBe('NOT_FOUND');
    const { body } = await post('other', noun.input(1));
    expect((await update(String(body.id))).body.data.it.id).toBe(String(body.id));
  });

  test('Idempotency-9: in one operation each mutation uses the key separately, by alias', async () => {
    const query = `mutation { a: ${createOf(0)} b: ${createOf(1)} }`;
    const first = await mutate('several', query);
    expect((await mutate('several', query)).body).toEqual(first.body);
    expect(first.body.data.a.id).not.toBe(first.body.data.b.id);
    expect(await count()).toBe(2);
  });

  test('Idempotency-20: the same key of another project reads no stored answer of this one', async () => {
    const owners = [tenant, await app().tenant()];
    const send = async () => {
      const ids: unknown[] = [];
      for (const { token } of owners) ids.push((await post('shared', undefined, token)).body.id);
      return ids;
    };
    const first = await send();
    expect(new Set(first).size).toBe(2);
    expect(await send()).toEqual(first);
  });

  test('Idempotency-21: the payload of a change counts each field, and an absent one differs from null', async () => {
    const { body } = await post('to-update');
    const update = async (key: string, input: Values) =>
      (await codeOf(mutate(key, UPDATE, { id: String(body.id), input }))) ?? 'updated';
    const inputs = [
      noun.change(0),
      { ...noun.change(0), [filter.field]: null },
      { ...noun.change(0), [filter.field]: filter.values[0] },
      ...(int64 ? [{ ...noun.change(0), ...integers[0] }] : []),
      noun.change(1),
    ];
    for (const [at, first] of inputs.entries()) {
      const key = `update-${at}`;
      expect(await update(key, first)).toBe('updated');
      const answers = await Promise.all(inputs.map((input) => update(key, input)));
      expect(answers).toEqual(inputs.map((input) => (input === first ? 'updated' : 'IDEMPOTENCY_MISMATCH')));
    }
  });

  test.each(['', 'x'.repeat(256), 'a b', 'é'])('Idempotency-10: refuses the key %j with 400', async (key) => {
    const refused = await post(key);
    expect([refused.status, refused.body.errors?.[0].field]).toEqual([400, 'Idempotency-Key']);
  });
};
