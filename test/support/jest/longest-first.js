import TestSequencer from '@jest/test-sequencer';

/** Files that take long although they are short: without known times Jest starts the largest files first. */
const LONGEST = [
  'test/domains/lifecycle/domains.lifecycle.full.test.ts',
  'test/clients/refusals.full.test.ts',
  'test/changes/proof.full.test.ts',
  'test/cli/import.full.test.ts',
  'test/package/own-folder.full.test.ts',
  'test/deploy/rolling-restart.full.test.ts',
  'test/client/quota.full.test.ts',
  'test/backup/copy.full.test.ts',
  'test/resilience/crash.full.test.ts',
  'test/certificates/certificates.faults.full.test.ts',
  'test/resilience/start.timed.test.ts',
  'test/cli/domains.cli.full.test.ts',
  'test/resilience/attacks/connections/unread-answers.timed.test.ts',
  'test/clients/generated-types.full.test.ts',
  'test/resilience/attacks/quotas.full.test.ts',
  'test/resilience/dependencies/mysql-wire.timed.test.ts',
  'test/rate-limit/limits.processes.full.test.ts',
  'test/resilience/dependencies/database-away.timed.test.ts',
  'test/deploy/image.full.test.ts',
  'test/web/dev.full.test.ts',
  'test/deploy/streams.full.test.ts',
  'test/domains/lifecycle/domains.processes.timed.test.ts',
  'test/resilience/attacks/statements.timed.test.ts',
  'test/cli/cli.full.test.ts',
  'test/response-cache/staleness.processes.full.test.ts',
  'test/dns/dns.dnssec.timed.test.ts',
  'test/changes/streams-of-processes.full.test.ts',
  'test/dns/dns.real-servers.full.test.ts',
  'test/resilience/shutdown.timed.test.ts',
  'test/resilience/attacks/connections/streams.timed.test.ts',
  'test/app/build.full.test.ts',
  'test/usage/usage-sums.full.test.ts',
  'test/resilience/attacks/connections/silent-connections.timed.test.ts',
  'test/writes/locked-database.timed.test.ts',
  'test/domains/lifecycle/domains.issuance.full.test.ts',
  'test/tracing/collectors.full.test.ts',
  'test/domains/lifecycle/domains.renewal.timed.test.ts',
  'test/nouns/list-plans.full.test.ts',
  'test/graphql/query-limits.test.ts',
  'test/request-log/request-writer.test.ts',
  'test/database/database.test.ts',
  'test/web/pages.test.ts',
  'test-browser/looks.test.ts',
  'test-browser/explorers.test.ts',
  'test-browser/toy-files.test.ts',
  'test-browser/requests.test.ts',
  'test-browser/overview.test.ts',
  'test-browser/project-hosts.test.ts',
  'test-browser/keys.test.ts',
  'test-browser/toys.test.ts',
  'test-browser/domains.test.ts',
  'test-browser/updates.test.ts',
  'test-browser/spent-quota.test.ts',
  'test-browser/sign-in.test.ts',
  'test-browser/names.test.ts',
  'test-browser/live.test.ts',
];

/** Starts the longest files first, so that no worker waits at the end of a run for one file of the other. */
export default class LongestFirst extends TestSequencer {
  async sort(tests) {
    const rank = ({ path }) => {
      const at = LONGEST.findIndex((file) => path.endsWith(`/${file}`));
      return at === -1 ? LONGEST.length : at;
    };
    return [...(await super.sort(tests))].sort((one, other) => rank(one) - rank(other));
  }
}
