import petstore from '../../src/petstore.js';
import { suitesOn } from '../nouns/suites.js';
import { PETS } from '../support/pets/pets.js';

suitesOn(petstore, PETS);
