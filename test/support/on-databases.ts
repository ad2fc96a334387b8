import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { type DatabaseKind, databaseKinds } from './databases.js';
import { startApp, type TestApp } from './start-app.js';

/** Runs the same tests on an app of each database; `app()` returns the current one. */
export function onEachDatabase(
  define: (app: () => TestApp, kind: DatabaseKind) => void,
  options: { now?: number } = {},
): void {
  describe.each(databaseKinds())('on %s', (kind) => {
    let running: TestApp;
    beforeAll(async () => {
      running = await startApp({ kind, ...options });
    });
    afterAll(() => running.stop());
    define(() => running, kind);
  });
}

/** For a promise that only MySQL can break. A run without MySQL reports such tests as skipped. */
export const testOnMysql = databaseKinds().includes('mysql') ? test : test.skip;
