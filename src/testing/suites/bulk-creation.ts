import assert from 'node:assert/strict';
import { IdempotencyKey } from '../../tenants/idempotency/idempotency-key.entity.js';
import { assertIncludes } from '../assertions.js';
import { rest } from '../http-client.js';
import { literal, type Values } from '../inputs.js';
import type { Tenant } from '../tested-app.js';
import { bulkRequests } from './bulk-requests.js';
import type { Suite } from './suite.js';

/** Of a text in 90 records. */
const MOST_CHARACTERS = 200;

export const bulkCreation: Suite = ({ noun, app, test, beforeEach }) => {
  const { names, text, filter } = noun;
  const { create: createOne, createAll, newInput, fields } = names;
  let owner: Tenant;
  beforeEach(async () => {
    owner = await app().tenant();
  });
  const { numbered, send, create, stored } = bulkRequests({ noun, app }, () => owner);

  test('Creation-10: 100 records are created, and come back in the order of the inputs with exact values', async () => {
    const { integers } = noun;
    const inputs = numbered(100).map((input, at) => ({
      ...input,
      ...integers[at % integers.length],
      ...noun.chosen(at % 2 === 0 ? 0 : 1),
    }));
    const { body } = await create(inputs);
    assert.equal(body.data.it.length, 100);
    assertIncludes(body.data.it, inputs.map(noun.shown));
    const list = await send(`{ it: ${names.list}(first: 100) { nodes { ${fields} } } }`);
    assert.deepEqual(list.body.data.it.nodes, body.data.it);
  });

  test('CreateMany-2: one invalid record of 100 stores none, and is named', async () => {
    const inputs: Values[] = numbered(100);
    const [int64] = noun.fields.filter(({ kind }) => kind === 'int64');
    const [otherwise = {}, itsFields = []] = noun.invalid.at(-1) ?? [];
    const [one, other] = text
      ? [{ [text.name]: '  ' }, { [text.name]: 'x'.repeat(text.maxLength + 1) }]
      : [otherwise, otherwise];
    inputs[17] = { ...inputs[17], ...one, ...(int64 && { [int64.name]: 'three' }) };
    inputs[99] = { ...inputs[99], ...other };
    const { status, body } = await create(inputs, 'invalid');
    assert.deepEqual([status, body.data, body.errors[0].extensions.code], [200, null, 'INVALID_REQUEST']);
    const named = body.errors[0].extensions.errors.map(({ field }: { field: string }) => field);
    const fields = text ? [text.name] : itsFields;
    const wrong = [
      ...new Set([...fields, ...(int64 ? [int64.name] : [])].map((field) => `inputs.17.${field}`)),
      ...fields.map((field) => `inputs.99.${field}`),
    ];
    assert.deepEqual(named.sort(), wrong.sort());
    assert.equal(await stored(), 0);
    // The key stays free for the corrected inputs.
    assert.equal((await create(numbered(100), 'invalid')).body.data.it.length, 100);
  });

  const differences: Values[] = [
    ...noun.invalid.map(([difference]) => difference),
    ...(filter ? [{ [filter.field]: null }, { [filter.field]: 'no-such-choice' }] : []),
    ...(text ? [{ [text.name]: null }] : []),
    { unknown: 1 },
    {},
  ];
  for (const difference of differences) {
    test(`CreateMany-3: ${JSON.stringify(difference)} is judged as by the creation of one`, async () => {
      const input = { ...noun.input(0), ...difference };
      const selected = noun.fields.map(({ name }) => name).join(' ');
      const query = `mutation($input: ${newInput}!) { it: ${createOne}(input: $input) { ${selected} } }`;
      const one = (await send(query, { input })).body;
      const all = `mutation($inputs: [${newInput}!]!) { it: ${createAll}(inputs: $inputs) { ${selected} } }`;
      // Another project, because a value of the first one may be unique.
      const many = (await send(all, { inputs: [input] }, {}, await app().tenant())).body;
      const codes = (body: typeof one) => body.errors?.map((error: typeof one) => error.extensions.code);
      const problems = (body: typeof one) => body.errors?.[0].extensions.errors;
      assert.deepEqual(codes(many), codes(one));
      assert.deepEqual(
        problems(many),
        problems(one)?.map(({ field, message }: { field: string; message: string }) => ({
          field: `inputs.0.${field}`,
          message,
        })),
      );
      assert.deepEqual(many.data?.it?.[0], one.data?.it ?? undefined);
    });
  }

  test('CreateMany-9: a repeated Idempotency-Key returns the first answer and creates nothing; another list is 422', async () => {
    // The texts alone are more than a column of text holds, and fewer bytes than a body may have.
    const length = Math.min((text?.maxLength ?? 2) - 2, MOST_CHARACTERS);
    const long = (at: number) => noun.named(`${'😀'.repeat(length)}${at}`);
    const inputs = numbered(90).map((input, at) => ({ ...input, ...long(at) }));
    const first = await create(inputs, 'k');
    assert.equal(first.body.data.it.length, 90);
    assert.equal((await create(inputs, 'k')).text, first.text);
    for (const other of [
      inputs.slice(1),
      [...inputs].reverse().with(0, { ...noun.input(95), ...long(95) }),
    ]) {
      assert.equal((await create(other, 'k')).body.errors[0].extensions.code, 'IDEMPOTENCY_MISMATCH');
    }
    const one = `mutation { ${createOne}(input: ${literal(noun, noun.input(0))}) { id } }`;
    const { body } = await send(one, {}, { 'idempotency-key': 'k' });
    assert.equal(body.errors[0].extensions.code, 'IDEMPOTENCY_MISMATCH');
    assert.equal(await stored(), 90);
    const other = await app().tenant();
    assert.notEqual((await create(inputs, 'k', other)).text, first.text);
    assert.equal(await stored(other), 90);
    const [row] = await app().db.repository(IdempotencyKey).findBy({ projectId: owner.projectId });
    assert.ok((row?.result?.length ?? 0) < 2_100);
  });

  test('CreateMany-10: of equal requests at the same time, one creates', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(numbered(50), 'same')));
    assert.equal(await stored(), 50);
    const codes = answers.flatMap(
      ({ body }) => body.errors?.map((error: typeof body) => error.extensions.code) ?? [],
    );
    assert.deepEqual(
      codes.filter((code) => code !== 'CONFLICT'),
      [],
    );
    const texts = new Set(answers.filter(({ body }) => body.data).map((answer) => answer.text));
    assert.equal(texts.size, 1);
  });

  test('CreateMany-14: it needs the scope to write, not that to read, and changes the lists that are cached', async () => {
    const reader = await app().tenant({ scopes: [names.readScope] });
    assert.equal((await create(numbered(2), undefined, reader)).body.errors[0].extensions.code, 'FORBIDDEN');
    assert.equal(await stored(reader), 0);
    const writer = await app().tenant({ scopes: [names.writeScope] });
    assert.equal((await create(numbered(2), undefined, writer)).body.data.it.length, 2);
    const list = async () => (await rest(app().url, names.path, owner)).body.length;
    for (let times = 0; times < 3; times += 1) assert.equal(await list(), 0);
    await create(numbered(7));
    assert.equal(await list(), 7);
  });
};
