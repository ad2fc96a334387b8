import { DATABASE_SCHEMA } from './src/app/database-schema.js';
import { loadConfig } from './src/ground/config/config.js';
import { createDataSource } from './src/ground/database/data-source.js';

/** For TypeORM's own command line, on the built file: `npx typeorm -d dist/ormconfig.js schema:log`. */
export default await createDataSource(loadConfig(process.env).database, DATABASE_SCHEMA, {
  poolSize: 1,
  queryTimeoutMs: 60_000,
});
