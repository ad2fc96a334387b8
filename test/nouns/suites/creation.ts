import { beforeAll, describe, expect, test } from '@jest/globals';
import { graphql, rest } from '../../support/http/client.js';
import { accepted, doorsOf } from '../../support/nouns/noun-doors.js';
import { int64Values, literal, requiredText, restBody, type Values } from '../../support/nouns/test-noun.js';
import type { Tenant } from '../../support/start-app.js';
import type { Suite } from '../suites.js';

const MAX_INT64 = '9223372036854775807';

export const creation: Suite = (noun, names, app, fresh) => {
  const doors = doorsOf(noun, names, () => app().url);
  const text = requiredText(noun);
  const { int64, filter } = noun;
  const int64Fields = noun.description.fields.filter(({ kind }) => kind === 'int64');
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
    const input = { ...fresh(), [filter.field]: filter.values[0] };
    const made = await post(restBody(noun, input));
    expect(made.status).toBe(201);
    expect(made.headers.get('location')).toBe(`${app().url}${names.path}/${made.body.id}`);
    expect((await get(`${names.path}/${made.body.id}`)).text).toBe(made.text);
    const record = accepted(await doors.graphql.get(tenant.token, String(made.body.id)));
    expect(record).toMatchObject(input);
  });

  test('Parity-3: a record created at one door is shown by the other', async () => {
    for (const integers of int64Values(noun)) {
      for (const [maker, reader] of [
        [doors.rest, doors.graphql],
        [doors.graphql, doors.rest],
      ] as const) {
        const values = { [text.name]: '🐈 Zoë', ...integers, [filter.field]: filter.values[1] };
        const made = accepted(await maker.create(tenant.token, { ...fresh(), ...values }));
        expect(made).toMatchObject(values);
        expect(accepted(await reader.get(tenant.token, made.id))).toEqual(made);
        const { records } = accepted(await reader.list(tenant.token, { size: 100 }));
        expect(records.at(-1)).toEqual(made);
      }
    }
  });

  describe('64-bit integers', () => {
    if (int64 !== null) {
      test('Creation-2: REST reads and writes the integers digit for digit', async () => {
        for (const digits of int64.digits) {
          const made = await post(restBody(noun, { ...fresh(), [int64.field]: digits }));
          expect(made.text).toMatch(new RegExp(`"${int64.field}":${digits}[,}]`));
        }
      });

      test.each(int64.digits)(
        'Ids-6: the integer %s comes back digit for digit, from a string, a literal and a JSON integer',
        async (digits) => {
          const input = () => ({ ...fresh(), [int64.field]: digits });
          expect((await ask(CREATE, { input: input() })).body.data.it[int64.field]).toBe(digits);
          const inDocument = await ask(
            `mutation { it: ${names.create}(input: ${literal(noun, input())}) { ${int64.field} } }`,
          );
          expect(inDocument.body.data.it).toEqual({ [int64.field]: digits });
          const raw = await rest(app().url, '/graphql', {
            method: 'POST',
            token: tenant.token,
            body: `{"query":${JSON.stringify(CREATE)},"variables":{"input":${restBody(noun, input())}}}`,
          });
          expect(raw.body.data.it[int64.field]).toBe(digits);
        },
      );
    }

    test.each(['9223372036854775808', 'abc', '1.5', '', ' 1'])(
      'Ids-7: %j is refused in each field of 64-bit integers, by name',
      async (digits) => {
        for (const { name } of int64Fields) {
          const wrong = { ...noun.input(0), [text.name]: '', [name]: digits };
          const { body } = await ask(CREATE, { input: wrong });
          expect(fieldsOf(body.errors[0].extensions.errors)).toEqual([name, text.name].sort());
          const refused = await post(restBody(noun, wrong));
          expect(fieldsOf(refused.body.errors)).toEqual([name, text.name].sort());
        }
      },
    );

    test('Creation-3: ids are exact in both directions, at both doors', async () => {
      const owner = await app().tenant();
      const { id } = accepted(await doors.rest.create(owner.token, noun.input(0)));
      // Ids of the gateway stay below 2^53; those of an older database need not.
      await app().db.transaction((manager) =>
        manager.query(`UPDATE ${names.table} SET id = ${MAX_INT64} WHERE id = ${id}`),
      );
      for (const door of Object.values(doors)) {
        expect(accepted(await door.get(owner.token, MAX_INT64)).id).toBe(MAX_INT64);
        expect(accepted(await door.list(owner.token, {})).records.map((one) => one.id)).toEqual([MAX_INT64]);
        expect((await door.get(owner.token, '9223372036854775806')).ok).toBe(false);
      }
      const read = await rest(app().url, `${names.path}/${MAX_INT64}`, { token: owner.token });
      expect(read.text).toContain(`"id":${MAX_INT64},`);
      const query = `mutation { it: ${names.remove}(id: "${MAX_INT64}") { id } }`;
      const removed = await graphql(app().url, query, { token: owner.token });
      expect(removed.body.data.it).toEqual({ id: MAX_INT64 });
      expect(accepted(await doors.rest.list(owner.token, {})).records).toEqual([]);
    });
  });

  describe('validation', () => {
    const required = noun.description.fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);

    test('Creation-4: REST names each required field that is absent, and null is absent for none', async () => {
      const { body, status } = await post('{}');
      expect([status, body.code, fieldsOf(body.errors)]).toEqual([
        400,
        'invalid_request',
        [...required].sort(),
      ]);
      for (const { name } of noun.description.fields) {
        const refused = await post(restBody(noun, { ...noun.input(0), [name]: null }));
        expect([name, refused.status, fieldsOf(refused.body.errors)]).toEqual([name, 400, [name]]);
      }
    });

    test('Creation-5: a body that is no JSON object is refused as a whole', async () => {
      const wrong = ['[]', '"text"', 'null', '{"a":1,}', '{"a":1,"a":2}', '', '['.repeat(50_000)];
      for (const body of [...wrong, Buffer.from('{"\xff":1}', 'latin1')]) {
        const refused = await post(body);
        expect([body, refused.status, fieldsOf(refused.body.errors)]).toEqual([body, 400, ['body']]);
      }
    });

    test('Creation-6: a text may have as many characters as its description says, and one more is refused at both doors', async () => {
      for (const door of Object.values(doors)) {
        const inputOf = (length: number) => ({ ...fresh(), [text.name]: '𝒳'.repeat(length) });
        const made = accepted(await door.create(tenant.token, inputOf(text.maxLength)));
        expect(made[text.name]).toBe('𝒳'.repeat(text.maxLength));
        const refused = await door.create(tenant.token, inputOf(text.maxLength + 1));
        expect(refused).toMatchObject({ code: 'invalid_request', fields: [text.name] });
      }
    });

    test('Creation-7: each choice is accepted at both doors, and no other text', async () => {
      const { choices = [] } = noun.description.fields.find(({ name }) => name === filter.field) ?? {};
      expect(choices).toEqual(expect.arrayContaining([...filter.values]));
      for (const door of Object.values(doors)) {
        for (const choice of choices) {
          const made = accepted(await door.create(tenant.token, { ...fresh(), [filter.field]: choice }));
          expect(made[filter.field]).toBe(choice);
        }
      }
      for (const choice of ['no-such-choice', choices[0]?.toUpperCase(), '']) {
        const input = { ...noun.input(0), [filter.field]: choice };
        expect(await doors.rest.create(tenant.token, input)).toMatchObject({ fields: [filter.field] });
        const { body } = await ask(CREATE, { input });
        expect([body.data, body.errors.length]).toEqual([undefined, 1]);
      }
    });

    test('Creation-8: REST ignores unknown fields, inherited ones included; GraphQL refuses them', async () => {
      const known = restBody(noun, fresh()).slice(1, -1);
      const choice = JSON.stringify({ [filter.field]: filter.values[0] });
      const made = await post(`{${known},"id":5,"projectId":6,"__proto__":${choice},"constructor":1}`);
      expect(made.status).toBe(201);
      expect(made.body.id).not.toBe(5);
      const plain = await post(`{${known}}`, (await app().tenant()).token);
      expect({ ...made.body, id: 0 }).toEqual({ ...plain.body, id: 0 });
      expect((await post(`{"__proto__":{${known}}}`)).status).toBe(400);
      const { body } = await ask(CREATE, { input: { ...noun.input(0), unknown: 1 } });
      expect(body.data).toBeUndefined();
    });

    test('Creation-9: a refused input stores nothing', async () => {
      const owner = await app().tenant();
      for (const [difference] of noun.invalid) {
        for (const door of Object.values(doors)) {
          expect((await door.create(owner.token, { ...noun.input(0), ...difference })).ok).toBe(false);
        }
      }
      expect(accepted(await doors.rest.list(owner.token, {})).records).toEqual([]);
    });
  });
};
