import type { Noun } from '../noun.js';
import { pets } from '../pets/pets.noun.js';

/** The nouns that the gateway serves, described by `NOUNS` in the same order. */
export const SERVED_NOUNS: readonly Noun[] = [pets];
