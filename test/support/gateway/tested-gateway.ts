import { databaseSchema } from '../../../src/app/database-schema.js';
import type { LoadedGateway } from '../../../src/app/gateway.js';
import * as app from '../../../src/app/services.js';
import { nounOf } from '../../../src/noun/noun-of.js';
import { pets } from '../../../src/pets/pets.js';
import { Pets1780000001000 } from '../../../src/pets/pets.migration.js';
import petstore from '../../../src/petstore.js';

/** The gateway of the suites, loaded. */
export const GATEWAY: LoadedGateway = {
  ...petstore,
  migrations: [],
  nouns: [nounOf(pets, [Pets1780000001000])],
};

/** The noun, as the schema of GraphQL has it. */
export const servedPets = async () => {
  const { resolvers } = await pets.loadDoors();
  return { description: pets.description, resolvers };
};

export const DATABASE_SCHEMA = databaseSchema(GATEWAY);
export const SCOPES = GATEWAY.scopes.all;

type Made = Parameters<typeof app.createServices> extends [unknown, ...infer Rest] ? Rest : never;
export const createServices = (...made: Made) => app.createServices(GATEWAY, ...made);
