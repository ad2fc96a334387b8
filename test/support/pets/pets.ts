import { pets } from '../../../src/pets/pets.js';
import type { NounFacts } from '../../../src/testing/noun-facts.js';
import { TOYS } from '../nouns/toys.js';

/** The table of pets. */
export const Pet = pets.entity;

/** Toys have the same fields. */
export const PETS: NounFacts = { ...TOYS, noun: 'pet' };
