import TestSequencer from '@jest/test-sequencer';

/** Files that take long although they are short: without known times Jest starts the largest files first. */
const LONGEST = [
  'cli/cli.test.ts',
  'cli/pets-import.test.ts',
  'response-cache/staleness.processes.test.ts',
  'response-cache/staleness.test.ts',
  'resilience/attacks/connections/early-answers.test.ts',
  'resilience/attacks/quotas.test.ts',
  'rate-limit/limits.processes.test.ts',
  'cli/domains.cli.test.ts',
];

/** Starts the longest files first, so that no worker waits at the end of a run for one file of the other. */
export default class LongestFirst extends TestSequencer {
  async sort(tests) {
    const rank = ({ path }) => {
      const at = LONGEST.findIndex((file) => path.endsWith(`/test/${file}`));
      return at === -1 ? LONGEST.length : at;
    };
    return [...(await super.sort(tests))].sort((one, other) => rank(one) - rank(other));
  }
}
