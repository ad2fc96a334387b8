import * as jest from '@jest/globals';
import type { Gateway } from '../../src/app/gateway.js';
import type { NounFacts } from '../../src/testing/noun-facts.js';
import { nounSuites } from '../../src/testing/noun-suites.js';
import { createTestDatabase, databaseKinds } from '../support/databases.js';

/** The suites that a user of the package runs, under Jest and on these databases. */
export function suitesOn(gateway: Gateway, facts: NounFacts, kinds = databaseKinds()): void {
  for (const kind of kinds) {
    jest.describe(`on ${kind}`, () =>
      nounSuites(gateway, facts, { runner: jest, database: () => createTestDatabase(kind) }),
    );
  }
}
