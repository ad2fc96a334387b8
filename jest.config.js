/** Tests run as CommonJS: Jest's ES module mode is experimental, and the product is tested as built where it matters. */
export const PROJECT = {
  testEnvironment: 'node',
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

export default {
  ...RUN,
  maxWorkers: 2,
  testSequencer: '<rootDir>/test/support/jest/longest-first.js',
  projects: [
    {
      ...PROJECT,
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: ['\\.(timed|alone)\\.test\\.ts$'],
    },
    { ...RETRYING, testMatch: ['<rootDir>/test/**/*.timed.test.ts'] },
    // Afterwards, one file at a time: these measure milliseconds, which another file would use up.
    {
      ...RETRYING,
      testMatch: ['<rootDir>/test/**/*.alone.test.ts'],
      runner: '<rootDir>/test/support/jest/serial-runner.js',
    },
  ],
};
