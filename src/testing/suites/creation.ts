import assert from 'node:assert/strict';
import { assertContains, assertIncludes } from '../assertions.js';
import { graphql, rest } from '../http-client.js';
import { literal, restBody, type Values } from '../inputs.js';
import { accepted } from '../noun-doors.js';
import type { Tenant } from '../tested-app.js';
import type { Suite } from './suite.js';

const INT64 = 'field of 64-bit integers';
const MAX_INT64 = '9223372036854775807';

export const creation: Suite = ({ noun, doors, app, fresh, describe, test, testWith, beforeAll }) => {
  const int64Fields = noun.fields.filter(({ kind }) => kind === 'int64');
  const { names, text, int64, filter, hasGet } = noun;
  const CREATE = `mutation($input: ${names.newInput}!) { it: ${names.create}(input: $input) { ${names.fields} } }`;
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await app().tenant();
  });
  const get = (path: string) => rest(app().url, path, { token: tenant.token });
  const post = (body: unknown, token = tenant.token) =>
    rest(app().url, names.path, { method: 'POST', token, body });
  const ask = (query: string, variables: Values = {}) =>
    graphql(app().url, query, { token: tenant.token, variables });
  const fieldsOf = (errors: { field: string }[]) => errors.map(({ field }) => field).sort();

  test('Creation-1: REST answers 201 with the record, its id and Location, and the record is there', async () => {
    const input = { ...fresh(), ...noun.chosen(0) };
    const made = await post(restBody(noun, input));
    assert.equal(made.status, 201);
    const address = `${names.path}/${made.body.id}`;
    assert.equal(made.headers.get('location'), hasGet ? app().url + address : null);
    if (hasGet) assert.equal((await get(address)).text, made.text);
    const record = accepted(await doors.graphql.get(tenant.token, String(made.body.id)));
    assertIncludes(record, noun.shown(input));
  });

  test('Parity-3: a record created at one door is shown by the other', async () => {
    for (const integers of noun.integers) {
      for (const [maker, reader] of [
        [doors.rest, doors.graphql],
        [doors.graphql, doors.rest],
      ] as const) {
        const values = { ...noun.named('🐈 Zoë'), ...integers, ...noun.chosen(1) };
        const made = accepted(await maker.create(tenant.token, { ...fresh(), ...values }));
        assertIncludes(made, values);
        assert.deepEqual(accepted(await reader.get(tenant.token, made.id)), made);
        const { records } = accepted(await reader.list(tenant.token, { size: 100 }));
        assert.deepEqual(records.at(-1), made);
      }
    }
  });

  describe('64-bit integers', () => {
    testWith(
      int64,
      INT64,
      'Creation-2: REST reads and writes the integers digit for digit',
      async (int64) => {
        for (const digits of int64.digits) {
          const made = await post(restBody(noun, { ...fresh(), [int64.field]: digits }));
          assert.match(made.text, new RegExp(`"${int64.field}":${digits}[,}]`));
        }
      },
    );

    for (const digits of int64?.digits ?? ['9007199254740993']) {
      testWith(
        int64,
        INT64,
        `Ids-6: the integer ${digits} comes back digit for digit, from a string, a literal and a JSON integer`,
        async (int64) => {
          const input = () => ({ ...fresh(), [int64.field]: digits });
          assert.equal((await ask(CREATE, { input: input() })).body.data.it[int64.field], digits);
          const inDocument = await ask(
            `mutation { it: ${names.create}(input: ${literal(noun, input())}) { ${int64.field} } }`,
          );
          assert.deepEqual(inDocument.body.data.it, { [int64.field]: digits });
          const raw = await rest(app().url, '/graphql', {
            method: 'POST',
            token: tenant.token,
            body: `{"query":${JSON.stringify(CREATE)},"variables":{"input":${restBody(noun, input())}}}`,
          });
          assert.equal(raw.body.data.it[int64.field], digits);
        },
      );
    }

    for (const digits of ['9223372036854775808', 'abc', '1.5', '', ' 1']) {
      testWith(
        int64Fields.length > 0 ? int64Fields : null,
        INT64,
        `Ids-7: ${JSON.stringify(digits)} is refused in each field of 64-bit integers, by name`,
        async (fields) => {
          for (const { name } of fields) {
            const wrong = { ...noun.input(0), ...noun.named(''), [name]: digits };
            const named = [name, ...(text ? [text.name] : [])].sort();
            const { body } = await ask(CREATE, { input: wrong });
            assert.deepEqual(fieldsOf(body.errors[0].extensions.errors), named);
            const refused = await post(restBody(noun, wrong));
            assert.deepEqual(fieldsOf(refused.body.errors), named);
          }
        },
      );
    }

    test('Creation-3: ids are exact in both directions, at both doors', async () => {
      const owner = await app().tenant();
      const { id } = accepted(await doors.rest.create(owner.token, noun.input(0)));
      // Ids of the gateway stay below 2^53; those of an older database need not.
      await app().db.transaction((manager) =>
        manager.query(`UPDATE ${names.table} SET id = ${MAX_INT64} WHERE id = ${id}`),
      );
      for (const door of Object.values(doors)) {
        assert.equal(accepted(await door.get(owner.token, MAX_INT64)).id, MAX_INT64);
        assert.deepEqual(
          accepted(await door.list(owner.token, {})).records.map((one) => one.id),
          [MAX_INT64],
        );
        assert.equal((await door.get(owner.token, '9223372036854775806')).ok, false);
      }
      const listed = await rest(app().url, names.path, { token: owner.token });
      assertContains(listed.text, `"id":${MAX_INT64},`);
      const read = await rest(app().url, `${names.path}/${MAX_INT64}`, { token: owner.token });
      if (hasGet) assertContains(read.text, `"id":${MAX_INT64},`);
      const query = `mutation { it: ${names.remove}(id: "${MAX_INT64}") { id } }`;
      const removed = await graphql(app().url, query, { token: owner.token });
      assert.deepEqual(removed.body.data.it, { id: MAX_INT64 });
      assert.deepEqual(accepted(await doors.rest.list(owner.token, {})).records, []);
    });
  });

  describe('validation', () => {
    const required = noun.fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);

    test('Creation-4: REST names each required field that is absent, and null is absent for none', async () => {
      const { body, status } = await post('{}');
      if (required.length > 0) {
        const refused = [status, body.code, fieldsOf(body.errors)];
        assert.deepEqual(refused, [400, 'invalid_request', [...required].sort()]);
      }
      for (const { name } of noun.fields) {
        const refused = await post(restBody(noun, { ...noun.input(0), [name]: null }));
        assert.deepEqual([name, refused.status, fieldsOf(refused.body.errors)], [name, 400, [name]]);
      }
    });

    test('Creation-5: a body that is no JSON object is refused as a whole', async () => {
      const wrong = ['[]', '"text"', 'null', '{"a":1,}', '{"a":1,"a":2}', '', '['.repeat(50_000)];
      for (const body of [...wrong, Buffer.from('{"\xff":1}', 'latin1')]) {
        const refused = await post(body);
        assert.deepEqual([body, refused.status, fieldsOf(refused.body.errors)], [body, 400, ['body']]);
      }
    });

    testWith(
      text,
      'required text without a pattern',
      'Creation-6: a text may have as many characters as its description says, and one more is refused at both doors',
      async (text) => {
        for (const door of Object.values(doors)) {
          const inputOf = (length: number) => ({ ...fresh(), [text.name]: '𝒳'.repeat(length) });
          const made = accepted(await door.create(tenant.token, inputOf(text.maxLength)));
          assert.equal(made[text.name], '𝒳'.repeat(text.maxLength));
          const refused = await door.create(tenant.token, inputOf(text.maxLength + 1));
          assertIncludes(refused, { code: 'invalid_request', fields: [text.name] });
        }
      },
    );

    testWith(
      filter,
      'choice that is a filter',
      'Creation-7: each choice is accepted at both doors, and no other text',
      async (filter) => {
        const { field, choices } = filter;
        for (const value of filter.values) assertContains(choices, value);
        for (const door of Object.values(doors)) {
          for (const choice of choices) {
            const made = accepted(await door.create(tenant.token, { ...fresh(), [field]: choice }));
            assert.equal(made[field], choice);
          }
        }
        for (const choice of ['no-such-choice', choices[0]?.toUpperCase(), '']) {
          const input = { ...noun.input(0), [field]: choice };
          assertIncludes(await doors.rest.create(tenant.token, input), { fields: [field] });
          const { body } = await ask(CREATE, { input });
          assert.deepEqual([body.data, body.errors.length], [undefined, 1]);
        }
      },
    );

    test('Creation-8: REST ignores unknown fields, inherited ones included; GraphQL refuses them', async () => {
      const known = restBody(noun, fresh()).slice(1, -1);
      const choice = JSON.stringify(noun.chosen(0));
      const made = await post(`{${known},"id":5,"projectId":6,"__proto__":${choice},"constructor":1}`);
      assert.equal(made.status, 201);
      assert.notEqual(made.body.id, 5);
      const plain = await post(`{${known}}`, (await app().tenant()).token);
      assert.deepEqual({ ...made.body, id: 0 }, { ...plain.body, id: 0 });
      if (required.length > 0) assert.equal((await post(`{"__proto__":{${known}}}`)).status, 400);
      const { body } = await ask(CREATE, { input: { ...noun.input(0), unknown: 1 } });
      assert.equal(body.data, undefined);
    });

    test('Creation-9: a refused input stores nothing', async () => {
      const owner = await app().tenant();
      for (const [difference] of noun.invalid) {
        for (const door of Object.values(doors)) {
          assert.equal((await door.create(owner.token, { ...noun.input(0), ...difference })).ok, false);
        }
      }
      assert.deepEqual(accepted(await doors.rest.list(owner.token, {})).records, []);
    });
  });
};
