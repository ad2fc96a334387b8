import { type StartOptions, startTestedApp, type TestApp } from '../../src/testing/tested-app.js';
import { createTestDatabase, type DatabaseKind } from './databases.js';
import { GATEWAY } from './gateway/tested-gateway.js';

export { TEST_ACTOR, type Tenant, type TestApp } from '../../src/testing/tested-app.js';

interface Options extends Partial<Omit<StartOptions, 'database'>> {
  kind?: DatabaseKind;
}

/** Starts the real app on a new database, by default with toys on SQLite. */
export async function startApp({
  gateway = GATEWAY,
  kind = 'sqlite',
  ...options
}: Options = {}): Promise<TestApp> {
  return startTestedApp({ gateway, database: await createTestDatabase(kind), ...options });
}
