import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { type LoadJob, type LoadResult, type PlainRequest, requestsOf, summary } from './load-job.js';
import { pacedLoad } from './paced-load.js';

/** The load generator: a separate program, so that it can be pinned. It reads a `LoadJob` per line and prints its `LoadResult`. */
for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line) as LoadJob;
  const result = job.requestsPerSecond === null ? await closedLoad(job) : await pacedLoad(job);
  console.log(JSON.stringify(result));
}

/** The package has no types; these are the parts in use. */
type Autocannon = (options: object) => Promise<{ non2xx: number; errors: number; mismatches: number }> & {
  on(event: 'start', listener: () => void): void;
  on(event: 'response', listener: (client: object, status: number, bytes: number, ms: number) => void): void;
};

/** Each connection sends its next request as soon as it is answered. Rejects unless every answer is 2xx. */
async function closedLoad({ origins, request, connections, seconds, amount }: LoadJob): Promise<LoadResult> {
  // It is installed in bench/; the compiled file is in dist/.
  const autocannon = createRequire(resolve('bench/package.json'))('autocannon') as Autocannon;
  // More requests than one round can send, so that no request repeats within a round.
  const isVaried = request.positions || request.sometimes || request.tokens;
  const prepared = isVaried ? Math.ceil((amount ?? 20_000 * seconds) / connections) : 1;
  const latenciesMs: number[] = [];
  let startedAt = 0;
  const run = autocannon({
    url: origins,
    connections,
    duration: seconds,
    ...(amount && { amount }),
    // How often autocannon checks whether it is done.
    sampleInt: amount ? 5 : 100,
    // GraphQL refuses with status 200. A list would take long to search.
    ...(request.body?.includes('mutation') && { verifyBody: (body: string) => !body.includes('"errors"') }),
    setupClient: (client: { setRequests(requests: PlainRequest[]): void }) =>
      client.setRequests(requestsOf(request, prepared)),
  });
  // autocannon's own clock includes the preparation of the requests.
  run.on('start', () => {
    startedAt = performance.now();
  });
  run.on('response', (_client, _status, _bytes, ms) => latenciesMs.push(ms));
  const { non2xx, errors, mismatches } = await run;
  const elapsedSeconds = (performance.now() - startedAt) / 1000;
  if (non2xx + errors + mismatches > 0) {
    const refused = non2xx + mismatches;
    throw new Error(`${latenciesMs.length} answers, ${refused} of them refusals, and ${errors} errors`);
  }
  if (request.positions && latenciesMs.length > prepared * connections) {
    throw new Error('more requests were sent than prepared: some were repeated');
  }
  return summary(latenciesMs, elapsedSeconds);
}
