import { PROJECT, RUN } from './jest.config.js';

/** Tests in a real browser, apart from the others: those need none. They bring their own databases, all SQLite. */
const { globalTeardown: _, ...shared } = PROJECT;

export default {
  ...RUN,
  ...shared,
  globalSetup: '<rootDir>/dist/test/support/browser-setup.js',
  testMatch: ['<rootDir>/test-browser/**/*.test.ts'],
  testTimeout: 120_000,
  maxWorkers: 2,
  testSequencer: '<rootDir>/test/support/jest/longest-first.js',
};
