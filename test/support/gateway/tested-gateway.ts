import { databaseSchema } from '../../../src/app/database-schema.js';
import type { LoadedGateway } from '../../../src/app/gateway.js';
import * as app from '../../../src/app/services.js';
import { FieldLimits } from '../../../src/doors/graphql/execution/field-limits.js';
import { createSchema } from '../../../src/doors/graphql/schema/schema.js';
import { nounOf } from '../../../src/noun/noun-of.js';
import { MemoryLimiter } from '../../../src/request/rate-limit/memory/memory-limiter.js';
import { toys } from '../nouns/toys.js';
import { Toys1780000001000 } from '../nouns/toys.migration.js';
import gateway from './toys-gateway.js';

/** The gateway of the suites, loaded. */
export const GATEWAY: LoadedGateway = {
  ...gateway,
  migrations: [],
  nouns: [nounOf(toys, [Toys1780000001000])],
};

/** The noun, as the schema of GraphQL has it. */
export const servedToys = async () => {
  const { resolvers } = await toys.loadDoors();
  return { description: toys.description, resolvers };
};

export const toysSchema = async () =>
  createSchema([await servedToys()], [], new FieldLimits(new MemoryLimiter(Date.now)));

export const DATABASE_SCHEMA = databaseSchema(GATEWAY);
export const SCOPES = GATEWAY.scopes.all;

type Made = Parameters<typeof app.createServices> extends [unknown, ...infer Rest] ? Rest : never;
export const createServices = (...made: Made) => app.createServices(GATEWAY, ...made);
