import { describe } from '@jest/globals';
import { type Gateway, loadGateway } from '../../src/app/gateway.js';
import type { Scope } from '../../src/ground/kernel/caller.js';
import { type NounNames, namesOf, type TestNoun, type Values } from '../support/nouns/test-noun.js';
import { onEachDatabase } from '../support/on-databases.js';
import type { TestApp } from '../support/start-app.js';
import { bulkCreation } from './suites/bulk-creation.js';
import { creation } from './suites/creation.js';
import { deletion } from './suites/deletion.js';
import { etags } from './suites/etags.js';
import { idempotency } from './suites/idempotency.js';
import { lists } from './suites/lists.js';
import { paging } from './suites/paging.js';
import { parity } from './suites/parity.js';
import { quotas } from './suites/quotas.js';
import { tenancy } from './suites/tenancy.js';

/** The tests of one subject. `fresh` returns a valid input that no test has stored, `scopes` are all of the gateway. */
export type Suite = (
  noun: TestNoun,
  names: NounNames,
  app: () => TestApp,
  fresh: () => Values,
  scopes: readonly Scope[],
) => void;

const SUITES = {
  bulkCreation,
  creation,
  deletion,
  etags,
  idempotency,
  lists,
  paging,
  parity,
  quotas,
  tenancy,
};
/** Each test has a new project, and stores smaller numbers in it as it likes. */
const FIRST_FRESH = 1_000;

/** Tests of a noun on each database: they check the promises that hold for every noun. A test file of a noun calls it once. */
export function nounSuites(noun: TestNoun, gateway: Gateway, onDatabases = onEachDatabase): void {
  let next = FIRST_FRESH;
  const fresh = () => {
    next += 1;
    return noun.input(next);
  };
  onDatabases(
    (app) => {
      for (const [subject, suite] of Object.entries(SUITES)) {
        describe(subject, () => suite(noun, namesOf(noun), app, fresh, gateway.scopes.all));
      }
    },
    { gateway: () => loadGateway(gateway) },
  );
}
