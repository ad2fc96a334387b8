/** True if `TEST_LONG` is set, as in `npm run test:full`: then tests that repeat a promise at random repeat it more often. */
export const isLongRun = process.env.TEST_LONG !== undefined;
