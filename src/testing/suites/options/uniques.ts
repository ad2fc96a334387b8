import assert from 'node:assert/strict';
import type { NounModel } from '../../../noun/definition/model.js';
import { assertIncludes } from '../../assertions.js';
import { graphql } from '../../http-client.js';
import type { Values } from '../../inputs.js';
import { accepted } from '../../noun-doors.js';
import type { Tenant } from '../../tested-app.js';
import type { Suite, SuiteParts } from '../suite.js';

const FIRST =
  'Uniqueness-1: both APIs refuse to create a record with the values of another one, and a deletion frees them';
const TAKEN = { ok: false, code: 'conflict', status: 409 };

/** Of fields with `unique`, alone or together with others. */
export const uniques: Suite = (parts) => {
  const { uniques } = parts.noun.model;
  for (const unique of uniques) parts.describe(unique.field.name, () => uniqueSuite(parts, unique));
  if (uniques.length === 0) parts.testWith(null, 'unique field', FIRST, () => {});
};

function uniqueSuite(parts: SuiteParts, { field, together }: NounModel['uniques'][number]): void {
  const { noun, doors, app, fresh, testWith, beforeEach } = parts;
  const names = [field, ...together].map(({ name }) => name);
  const isStated = names.every((name) => (noun.input(0)[name] ?? null) !== null);
  const stated = `input(n) with ${names.join(' and ')}`;
  let owner: Tenant;
  let first: Values;
  beforeEach(async () => {
    owner = await app().tenant();
    first = fresh();
  });
  const taken = () => Object.fromEntries(names.map((name) => [name, first[name]]));
  const withTaken = () => ({ ...fresh(), ...taken() });

  testWith(isStated || null, stated, FIRST, async () => {
    const { id } = accepted(await doors.rest.create(owner.token, first));
    for (const door of Object.values(doors))
      assertIncludes(await door.create(owner.token, withTaken()), TAKEN);
    assert.equal(accepted(await doors.rest.list(owner.token, {})).records.length, 1);
    const other = await app().tenant();
    assert.equal((await doors.rest.create(other.token, withTaken())).ok, true);
    const query = `mutation { ${noun.names.remove}(id: "${id}") { id } }`;
    assert.equal((await graphql(app().url, query, owner)).body.errors, undefined);
    assert.equal((await doors.graphql.create(owner.token, withTaken())).ok, true);
  });

  const isChangeable = names.every((name) => noun.changeable.includes(name));
  testWith(
    (isStated && isChangeable) || null,
    isStated ? `change of ${names.join(' and ')}` : stated,
    'Uniqueness-2: a change to the values of another record is refused, and changes nothing',
    async () => {
      await doors.rest.create(owner.token, first);
      const made = accepted(await doors.rest.create(owner.token, fresh()));
      const query = `mutation($input: ${noun.names.changes}!) { ${noun.names.update}(id: "${made.id}", input: $input) { id } }`;
      const { body } = await graphql(app().url, query, { token: owner.token, variables: { input: taken() } });
      assert.deepEqual(body.errors[0].extensions, { code: 'CONFLICT', status: 409 });
      assert.deepEqual(accepted(await doors.rest.get(owner.token, made.id)), made);
    },
  );

  const optional = [field, ...together].find(({ isSet }) => !isSet);
  testWith(
    optional ?? null,
    'optional value among them',
    'Uniqueness-3: a record that lacks one of the values shares them with nobody',
    async ({ name }) => {
      const { [name]: _, ...others } = taken();
      for (const door of [doors.rest, doors.graphql, doors.rest]) {
        const { [name]: __, ...input } = { ...fresh(), ...others };
        assert.equal((await door.create(owner.token, input)).ok, true);
      }
    },
  );

  testWith(
    (isStated && together.length > 0) || null,
    together.length > 0 ? stated : 'value beside it',
    'Uniqueness-4: records may share all of the values but one',
    async () => {
      accepted(await doors.rest.create(owner.token, first));
      const { [field.name]: own } = fresh();
      assert.notDeepEqual(own, first[field.name]);
      assert.equal((await doors.rest.create(owner.token, { ...withTaken(), [field.name]: own })).ok, true);
    },
  );
}
