import { createGateway, type LoadedGateway } from '../../../src/app/gateway.js';
import { nounOf } from '../../../src/noun/noun-of.js';
import { pets } from '../../../src/pets/pets.js';
import { Pets1780000001000 } from '../../../src/pets/pets.migration.js';
import { BOOKS, Books1790000000000, books } from './books.js';
import { PETS } from './pets.js';
import type { TestNoun } from './test-noun.js';

/** The nouns for which the suites of `test/nouns/` run. */
export const TEST_NOUNS: readonly TestNoun[] = [PETS, BOOKS];

/** Serves them side by side. */
export const TESTED_GATEWAY: LoadedGateway = {
  ...createGateway({ name: 'Pets and Books', nouns: [pets, books] }),
  migrations: [],
  nouns: [nounOf(pets, [Pets1780000001000]), nounOf(books, [Books1790000000000])],
};
