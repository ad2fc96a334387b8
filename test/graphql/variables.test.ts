import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { IsNull } from 'typeorm';
import { ApiKey } from '../../src/tenants/api-keys/api-key.entity.js';
import { openLog } from '../support/changes/changes.js';
import { openStream } from '../support/changes/stream-client.js';
import { graphql } from '../support/http/client.js';
import { startApp, type Tenant, type TestApp } from '../support/start-app.js';

let app: TestApp;
let owner: Tenant;
const faults: string[] = [];
beforeAll(async () => {
  app = await startApp({ onLog: (line) => line.includes('request failed') && faults.push(line) });
});
afterAll(() => app.stop());
beforeEach(async () => {
  owner = await app.tenant({ scopes: ['toys:read', 'toys:write', 'domains', 'keys'] });
});

const ask = (query: string, variables: Record<string, unknown>) =>
  graphql(app.url, query, { token: owner.token, variables });
const left = async () => Number((await ask('{ __typename }', {})).headers.get('x-ratelimit-remaining'));

/** Places where null is not allowed. A variable that may be null is valid there because it, or the place, has a default. */
const PLACES = {
  '@include': 'query ($v: Boolean = true) { toys { nodes { name @include(if: $v) } } }',
  '@skip': 'query ($v: Boolean = false) { toys { nodes { name @skip(if: $v) } } }',
  'a fragment':
    'query ($v: Boolean = true) { toys { ...Page } } fragment Page on ToyConnection { nodes { name @include(if: $v) } }',
  'an inline fragment': 'query ($v: Boolean = true) { ... @include(if: $v) { project { slug } } }',
  'a list':
    'mutation ($v: NewToy = { name: "Rex", categoryId: "1" }) { createToys(inputs: [{ name: "Max", categoryId: "1" }, $v]) { id } }',
  'an input object': 'mutation ($v: ID = "1") { createToy(input: { name: "Rex", categoryId: $v }) { id } }',
  'an argument with a default':
    'mutation ($v: Boolean) { setDomains(input: { redirects: [] }, dryRun: $v) { primary } }',
  'what a mutation returns':
    'mutation ($v: Boolean = true) { createApiKey(input: { name: "CI", scopes: [TOYS_READ] }) { token key { name @include(if: $v) } } }',
};

test.each(Object.entries(PLACES))(
  'Variables-1: null for a variable with a default in %s is BAD_USER_INPUT, and nothing is executed',
  async (_, query) => {
    const keys = () =>
      app.db.repository(ApiKey).countBy({ projectId: owner.projectId, revokedAtMs: IsNull() });
    const [keysBefore, before] = [await keys(), await left()];
    // Again: the document is known then.
    for (let time = 1; time <= 2; time += 1) {
      const { status, body } = await ask(query, { v: null });
      expect([status, body]).toEqual([
        400,
        {
          errors: [
            {
              message: expect.stringMatching(/^Variable "\$v" must not be null: .* type is "[\w!]+!"\. /),
              locations: [expect.anything()],
              extensions: { code: 'BAD_USER_INPUT', status: 400 },
            },
          ],
        },
      ]);
    }
    // As any refused operation costs what it would have cost; management does not spend the plan.
    expect(before - (await left())).toBe(/toys|createToy/.test(query) ? 3 : 1);
    expect([await keys(), (await ask('{ toys { nodes { id } } }', {})).body.data.toys.nodes]).toEqual([
      keysBefore,
      [],
    ]);
    expect(faults).toEqual([]);
  },
);

test('Variables-7: null as the default of a variable is refused where null is not allowed, and nothing is executed', async () => {
  const query =
    'mutation ($v: Boolean = null) { publishProject { publishedAt } setDomains(input: { redirects: [] }, dryRun: $v) { primary } }';
  for (const variables of [{}, { v: null }]) {
    const { status, body } = await ask(query, variables);
    expect([status, body.errors[0].extensions.code, body.errors[0].message]).toEqual([
      400,
      'BAD_USER_INPUT',
      'Variable "$v" must not be null: it is used where the type is "Boolean!". State another value.',
    ]);
  }
  expect((await ask('{ project { publishedAt } }', {})).body.data.project.publishedAt).toBeNull();
});

test('Variables-2: a variable that is left out has its default, and null counts where it is allowed', async () => {
  const query =
    'query ($v: Boolean = true, $first: Int = 1) { toys(first: $first) { nodes { name @include(if: $v) } } }';
  for (const variables of [{}, { v: true }, { first: null }, { v: false, first: 2 }]) {
    expect((await ask(query, variables)).body).toEqual({ data: { toys: { nodes: [] } } });
  }
});

test('Variables-3: an answer from memory does not hide the refusal of the same operation', async () => {
  const query = 'query ($v: Boolean = true) { toys { nodes { name @include(if: $v) } } }';
  for (let time = 1; time <= 4; time += 1) expect((await ask(query, {})).status).toBe(200);
  expect((await ask(query, { v: null })).status).toBe(400);
});

test('Variables-4: a subscription is refused in the same way, before its stream opens', async () => {
  await openLog(app, owner);
  const query = 'subscription ($v: Boolean = true) { toyChanges { cursor kind @include(if: $v) } }';
  const stream = await openStream(app.url, { token: owner.token, query, variables: { v: null } });
  await stream.received(1);
  expect([stream.status, stream.text()]).toEqual([400, expect.stringContaining('"BAD_USER_INPUT"')]);
});

test('Variables-5: of many nulls three are reported', async () => {
  const names = Array.from({ length: 10 }, (_, at) => `v${at}`);
  const query = `query (${names.map((name) => `$${name}: Boolean = true`)}) { ${names.map((name) => `... @include(if: $${name}) { project { slug } }`).join(' ')} }`;
  const { status, body } = await ask(query, Object.fromEntries(names.map((name) => [name, null])));
  expect([status, body.errors.length]).toEqual([400, 3]);
});

test('Variables-6: the default of a variable decides what an operation costs', async () => {
  const before = await left();
  const skipped =
    'query ($no: Boolean = false) { a: toys { nodes { id } } b: toys @include(if: $no) { nodes { id } } }';
  expect((await ask(skipped, {})).body.data).toEqual({ a: { nodes: [] } });
  expect(before - (await left())).toBe(2);
});
