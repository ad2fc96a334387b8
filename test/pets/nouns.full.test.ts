import petstore from '../../src/petstore.js';
import { nounSuites } from '../nouns/suites.js';
import { PETS } from '../support/pets/pets.js';

nounSuites(PETS, petstore);
