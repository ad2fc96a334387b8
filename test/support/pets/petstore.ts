import { resolve } from 'node:path';
import type { LoadedGateway } from '../../../src/app/gateway.js';
import { nounOf } from '../../../src/noun/noun-of.js';
import { pets } from '../../../src/pets/pets.js';
import { Pets1780000001000 } from '../../../src/pets/pets.migration.js';
import petstore from '../../../src/petstore.js';

/** The gateway of this repository, loaded. */
export const PETSTORE: LoadedGateway = {
  ...petstore,
  migrations: [],
  nouns: [nounOf(pets, [Pets1780000001000])],
};

/** Its program, built. */
export const PETSTORE_MAIN = resolve('dist/src/main.js');
