import type { Scope } from '../../ground/kernel/caller.js';
import type { Values } from '../inputs.js';
import type { Doors } from '../noun-doors.js';
import type { Tests } from '../runner.js';
import type { TestApp } from '../tested-app.js';
import type { TestedNoun } from '../tested-noun.js';

export interface SuiteParts extends Tests {
  readonly noun: TestedNoun;
  readonly doors: Doors;
  app(): TestApp;
  /** A valid input that no test has stored. */
  fresh(): Values;
  /** All of the gateway. */
  readonly scopes: readonly Scope[];
}

/** The tests of one subject. */
export type Suite = (parts: SuiteParts) => void;
