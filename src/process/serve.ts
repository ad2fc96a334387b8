import type { Addresses } from '../app/addresses.js';
import { type App, createApp } from '../app/app.js';
import { databaseSchema } from '../app/database-schema.js';
import type { LoadedGateway } from '../app/gateway.js';
import type { AppOptions } from '../app/parts.js';
import type { Config } from '../ground/config/config.js';
import { replicaPool } from '../ground/database/data-source.js';
import { Database } from '../ground/database/database.js';
import { openProblem } from '../ground/database/database-errors.js';
import { AppError } from '../ground/kernel/errors.js';
import { migrate } from '../ground/migrating/migrate.js';
import { requireMigrations } from '../ground/migrations/files/migrated-tables.js';

export interface Serving {
  app: App;
  db: Database;
  addresses: Addresses;
}

/** Opens the database, applies its migrations, and listens. When a step fails, what is open is closed. */
export async function serve(
  gateway: LoadedGateway,
  config: Config,
  log: Pick<AppOptions, 'logger' | 'logLines'>,
): Promise<Serving> {
  const db = await openDatabase(gateway, config, log.logger);
  let app: App | undefined;
  try {
    app = await createApp({ gateway, config, db, ...log, now: Date.now });
    return { app, db, addresses: await app.listen() };
  } catch (error) {
    await app?.http.close().catch(() => {});
    await db.close().catch(() => {});
    throw error;
  }
}

/** Throws an `AppError` that names the setting, or the migration. */
async function openDatabase(
  gateway: LoadedGateway,
  config: Config,
  logger: AppOptions['logger'],
): Promise<Database> {
  const schema = databaseSchema(gateway);
  await requireMigrations(schema);
  try {
    await migrate(config.database, schema, { onWait: (sentence) => logger.info(sentence) });
    const db = await Database.open(config.database, schema, {
      poolSize: config.databasePoolSize,
      onMove: (sentence) => logger.warn(sentence),
    });
    if (config.replica) db.readListsAt(await replicaPool(config.replica, config.databasePoolSize));
    db.markInUse();
    return db;
  } catch (error) {
    if (error instanceof AppError) throw error;
    const problem = `The gateway could not start with the database ${openProblem(config.database, error)}`;
    throw new AppError('unavailable', `${problem}. Check DATABASE_URL.`, { cause: error });
  }
}
