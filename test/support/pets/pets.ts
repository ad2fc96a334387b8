import { pets } from '../../../src/pets/pets.js';
import type { TestNoun } from '../nouns/test-noun.js';
import { TOYS } from '../nouns/toys.js';

/** The table of pets. */
export const Pet = pets.entity;

/** Toys have the same fields. */
export const PETS: TestNoun = { ...TOYS, description: pets.description };
