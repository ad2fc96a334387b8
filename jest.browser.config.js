import base from './jest.config.js';

/** Tests in a real browser, apart from the others: those need none. They bring their own databases, all SQLite. */
const { globalTeardown: _, ...shared } = base;

export default {
  ...shared,
  globalSetup: '<rootDir>/dist/test/support/browser-setup.js',
  testMatch: ['<rootDir>/test-browser/**/*.test.ts'],
  testTimeout: 120_000,
  // What takes how long in a browser is measured, too.
  maxWorkers: 1,
};
