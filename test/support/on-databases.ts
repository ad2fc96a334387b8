import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { anyDatabase, type DatabaseKind, databaseKinds } from './databases.js';
import { startApp, type TestApp } from './start-app.js';

type Options = Pick<NonNullable<Parameters<typeof startApp>[0]>, 'now' | 'gateway'>;
type Define = (app: () => TestApp, kind: DatabaseKind) => void;

/** Runs the same tests on an app of each database; `app()` returns the current one. */
export function onEachDatabase(define: Define, options: Options = {}): void {
  for (const kind of databaseKinds()) onDatabase(kind, define, options);
}

/** Runs the tests on one app, whose database makes no difference to them. */
export function onAnyDatabase(define: Define, options: Options = {}): void {
  onDatabase(anyDatabase(), define, options);
}

function onDatabase(kind: DatabaseKind, define: Define, options: Options): void {
  describe(`on ${kind}`, () => {
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
