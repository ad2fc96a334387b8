/** True if `TEST_LONG` is set, as in `.ci/run`: then tests that repeat a promise at random repeat it more often. */
export const isLongRun = process.env.TEST_LONG !== undefined;
