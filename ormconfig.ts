import { databaseSchema } from './src/app/database-schema.js';
import { loadGateway } from './src/app/gateway.js';
import { loadConfig } from './src/ground/config/config.js';
import { createDataSource } from './src/ground/database/data-source.js';
import petstore from './src/petstore.js';

/** For TypeORM's own command line, on the built file: `npx typeorm -d dist/ormconfig.js schema:log`. */
const schema = databaseSchema(await loadGateway(petstore));

export default await createDataSource(loadConfig(process.env).database, schema, {
  poolSize: 1,
  queryTimeoutMs: 60_000,
});
