import { type Gateway, loadGateway } from '../app/gateway.js';
import { databaseOfTests, requireEmpty, type TestDatabase } from './databases.js';
import { withExisting } from './existing-records.js';
import { doorsOf } from './noun-doors.js';
import type { NounFacts } from './noun-facts.js';
import { nodeRunner, type Runner, testsOf } from './runner.js';
import { bulkCosts } from './suites/bulk-costs.js';
import { bulkCreation } from './suites/bulk-creation.js';
import { creation } from './suites/creation.js';
import { deletion } from './suites/deletion.js';
import { etags } from './suites/etags.js';
import { idempotency } from './suites/idempotency.js';
import { lists } from './suites/lists.js';
import { actions } from './suites/options/actions.js';
import { orders } from './suites/options/orders.js';
import { references } from './suites/options/references.js';
import { restoration } from './suites/options/restoration.js';
import { shownFields } from './suites/options/shown-fields.js';
import { uniques } from './suites/options/uniques.js';
import { paging } from './suites/paging.js';
import { parity } from './suites/parity.js';
import { quotas } from './suites/quotas.js';
import { recordWrites } from './suites/record-writes.js';
import { tenancy } from './suites/tenancy.js';
import { startTestedApp, type TestApp } from './tested-app.js';
import { testedNoun } from './tested-noun.js';

const SUITES = {
  bulkCosts,
  bulkCreation,
  creation,
  deletion,
  etags,
  idempotency,
  lists,
  paging,
  parity,
  quotas,
  recordWrites,
  tenancy,
  // Of options that a noun may have.
  actions,
  orders,
  references,
  restoration,
  shownFields,
  uniques,
};
/** Each test has a new project, and stores smaller numbers in it as it likes. */
const FIRST_FRESH = 1_000;

export interface SuiteOptions {
  /** Such as `import * as vitest from 'vitest'`; by default that of `node --test`. */
  readonly runner?: Runner;
  /** An empty database, or the tests refuse it; by default that of `TEST_DATABASE_URL`, and without it one of SQLite in memory. */
  readonly database?: () => Promise<TestDatabase>;
}

/** Defines the tests of the promises that hold for every noun. They need a gateway with the noun, and no running process. */
export function nounSuites(
  gateway: Gateway,
  facts: NounFacts,
  { runner = nodeRunner(), database = databaseOfTests }: SuiteOptions = {},
): void {
  const noun = testedNoun(gateway, facts);
  let running: TestApp | undefined;
  const app = () => {
    if (running) return running;
    throw new Error('The gateway did not start.');
  };
  let next = FIRST_FRESH;
  const fresh = () => {
    next += 1;
    return noun.input(next);
  };
  const doors = doorsOf(noun, () => app().url);
  const parts = { ...testsOf(runner), noun, doors, app, fresh, scopes: gateway.scopes.all };
  runner.describe(noun.description.plural, () => {
    runner.beforeAll(async () => {
      const loaded = await loadGateway(gateway);
      const empty = await database();
      await requireEmpty(empty);
      running = await startTestedApp({ gateway: loaded, database: empty }).catch(async (error) => {
        await empty.remove();
        throw error;
      });
      running = await withExisting(running, gateway, facts.existing);
    });
    runner.afterAll(() => running?.stop());
    for (const [subject, suite] of Object.entries(SUITES)) runner.describe(subject, () => suite(parts));
  });
}
