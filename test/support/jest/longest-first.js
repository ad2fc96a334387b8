import TestSequencer from '@jest/test-sequencer';

/** Files that take long although they are short: without known times Jest starts the largest files first. */
const LONGEST = [
  'domains/lifecycle/domains.lifecycle.test.ts',
  'rate-limit/limits.test.ts',
  'response-cache/staleness.test.ts',
  'resilience/processes.test.ts',
  'deploy/image.full.test.ts',
  'cli/pets-import.full.test.ts',
  'cli/cli.full.test.ts',
  'domains/lifecycle/domains.renewal.timed.test.ts',
  'deploy/rolling-restart.full.test.ts',
  'resilience/crash.full.test.ts',
  'certificates/certificates.faults.full.test.ts',
  'resilience/dependencies/database-away.timed.test.ts',
  'resilience/dependencies/mysql-wire.full.test.ts',
  'resilience/attacks/connections/unread-answers.timed.test.ts',
  'domains/lifecycle/domains.issuance.full.test.ts',
  'response-cache/staleness.processes.full.test.ts',
  'resilience/attacks/quotas.full.test.ts',
  'rate-limit/limits.processes.full.test.ts',
  'cli/domains.cli.full.test.ts',
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
