/** Tests run as CommonJS: Jest's ES module mode is experimental, and the product is tested as built where it matters. */
export const PROJECT = {
  testEnvironment: '<rootDir>/test/support/jest/plain-environment.js',
  runtime: '<rootDir>/test/support/jest/shared-modules.cjs',
  // Built: Jest does not apply the mapper below to these two.
  globalSetup: '<rootDir>/dist/test/support/global-setup.js',
  globalTeardown: '<rootDir>/dist/test/support/global-teardown.js',
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, useDefineForClassFields: false },
        },
        module: { type: 'commonjs' },
      },
    ],
  },
  setupFiles: ['reflect-metadata'],
  // Builds of other commits are there.
  modulePathIgnorePatterns: ['<rootDir>/.cache/'],
  // No promise about time, only the end of patience with a slow machine.
  testTimeout: 300_000,
};

/** For whole runs; a project cannot have its own. */
export const RUN = {
  reporters: ['default', '<rootDir>/dist/test/support/jest/retries-reporter.js'],
  testTimeout: PROJECT.testTimeout,
};

/** Another program can use up the time that these files promise. Elsewhere a retry would hide a race. */
const RETRYING = { ...PROJECT, setupFilesAfterEnv: ['<rootDir>/test/support/jest/retry-once.ts'] };
/** Runs after the other files, one file at a time: these measure milliseconds, which another file would use up. */
const SERIAL = { ...RETRYING, runner: '<rootDir>/test/support/jest/serial-runner.js' };

/** `npm test` runs the first, `npm run test:full` all but the last, and `npm run test:long` the last. */
export default {
  ...RUN,
  // For two cores: tests wait for processes and deadlines.
  maxWorkers: 3,
  testSequencer: '<rootDir>/test/support/jest/longest-first.js',
  projects: [
    {
      ...PROJECT,
      displayName: 'default',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: ['\\.(full|timed|alone|long)\\.test\\.ts$'],
    },
    { ...PROJECT, displayName: 'full', testMatch: ['<rootDir>/test/**/*.full.test.ts'] },
    { ...RETRYING, displayName: 'timed', testMatch: ['<rootDir>/test/**/*.timed.test.ts'] },
    { ...SERIAL, displayName: 'alone', testMatch: ['<rootDir>/test/**/*.alone.test.ts'] },
    { ...SERIAL, displayName: 'long', testMatch: ['<rootDir>/test/**/*.long.test.ts'] },
  ],
};
