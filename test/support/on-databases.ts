import { afterAll, beforeAll, describe, test } from '@jest/globals';
import type { LoadedGateway } from '../../src/app/gateway.js';
import { anyDatabase, type DatabaseKind, databaseKinds } from './databases.js';
import { GATEWAY } from './gateway/tested-gateway.js';
import { startApp, type TestApp } from './start-app.js';

interface Options {
  now?: number;
  gateway?: LoadedGateway | (() => Promise<LoadedGateway>);
}
type Define = (app: () => TestApp, kind: DatabaseKind) => void;

/** Runs the same tests on an app of each database; `app()` returns the current one. */
export function onEachDatabase(define: Define, options: Options = {}): void {
  for (const kind of databaseKinds()) onDatabase(kind, define, options);
}

/** Runs the tests on one app, whose database makes no difference to them. */
export function onAnyDatabase(define: Define, options: Options = {}): void {
  onDatabase(anyDatabase(), define, options);
}

function onDatabase(kind: DatabaseKind, define: Define, { gateway = GATEWAY, ...options }: Options): void {
  describe(`on ${kind}`, () => {
    let running: TestApp;
    beforeAll(async () => {
      const loaded = typeof gateway === 'function' ? await gateway() : gateway;
      running = await startApp({ kind, gateway: loaded, ...options });
    });
    afterAll(() => running.stop());
    define(() => running, kind);
  });
}

/** For a promise that only MySQL can break. A run without MySQL reports such tests as skipped. */
export const testOnMysql = databaseKinds().includes('mysql') ? test : test.skip;
