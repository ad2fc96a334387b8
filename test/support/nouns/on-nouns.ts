import { describe } from '@jest/globals';
import type { DatabaseKind } from '../databases.js';
import { onEachDatabase } from '../on-databases.js';
import type { TestApp } from '../start-app.js';
import { type NounNames, namesOf, type TestNoun } from './test-noun.js';
import { TEST_NOUNS, TESTED_GATEWAY } from './tested-nouns.js';

type Define = (noun: TestNoun, names: NounNames, app: () => TestApp, kind: DatabaseKind) => void;

/** Runs the same tests for each noun, on an app of each database. */
export function onEachNoun(define: Define): void {
  onEachDatabase(
    (app, kind) => {
      for (const noun of TEST_NOUNS) {
        describe(noun.description.plural, () => define(noun, namesOf(noun), app, kind));
      }
    },
    { gateway: TESTED_GATEWAY },
  );
}
