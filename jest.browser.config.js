import base from './jest.config.js';

/** Tests in a real browser, apart from the others: those need none. They bring their own databases, all SQLite. */
const { globalSetup: _setup, globalTeardown: _teardown, ...shared } = base;

export default {
  ...shared,
  testMatch: ['<rootDir>/test-browser/**/*.test.ts'],
  testTimeout: 120_000,
  // What takes how long in a browser is measured, too.
  maxWorkers: 1,
};
