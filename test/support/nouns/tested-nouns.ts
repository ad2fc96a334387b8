import { PETS } from './pets.js';
import type { TestNoun } from './test-noun.js';

/** The nouns for which the suites of `test/nouns/` run. */
export const TEST_NOUNS: readonly TestNoun[] = [PETS];
