import assert from 'node:assert/strict';
import { assertIncludes } from '../../assertions.js';
import { graphql } from '../../http-client.js';
import { accepted } from '../../noun-doors.js';
import type { Tenant } from '../../tested-app.js';
import type { Suite } from '../suite.js';

const UNKNOWN_ID = '4503599627370496';

/** Of references with `mustExist`. */
export const references: Suite = ({ noun, doors, app, fresh, describe, testWith, beforeEach }) => {
  const { names, changeable } = noun;
  const required = noun.fields.filter(({ reference }) => reference?.mustExist);
  let owner: Tenant;
  beforeEach(async () => {
    owner = await app().tenant();
  });
  for (const { name } of required.length > 0 ? required : [{ name: null }]) {
    describe(name ?? 'none', () => {
      testWith(
        name,
        'reference with mustExist',
        'RequiredRecord-1: both APIs refuse a record that refers to an unknown one, by the name of the field',
        async (name) => {
          const refused = { ok: false, code: 'invalid_request', status: 400, fields: [name] };
          for (const door of Object.values(doors))
            assertIncludes(await door.create(owner.token, { ...fresh(), [name]: UNKNOWN_ID }), refused);
          assert.deepEqual(accepted(await doors.rest.list(owner.token, {})).records, []);
        },
      );

      testWith(
        name !== null && changeable.includes(name) ? name : null,
        name === null ? 'reference with mustExist' : `change of ${name}`,
        'RequiredRecord-2: a change to an unknown record is refused, and changes nothing',
        async (name) => {
          const made = accepted(await doors.rest.create(owner.token, fresh()));
          const query = `mutation { ${names.update}(id: "${made.id}", input: {${name}: "${UNKNOWN_ID}"}) { id } }`;
          const { code, errors } = (await graphql(app().url, query, owner)).body.errors[0].extensions;
          assertIncludes([code, errors], ['INVALID_REQUEST', [{ field: name }]]);
          assert.deepEqual(accepted(await doors.rest.get(owner.token, made.id)), made);
        },
      );
    });
  }
};
