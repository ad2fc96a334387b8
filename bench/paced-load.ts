import { Agent, request as open } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type LoadJob, type LoadResult, type PlainRequest, requestsOf, summary } from './load-job.js';

/**
 * Sends requests at an even pace and does not wait for earlier answers, so a slow answer delays no other request.
 * The option `overallRate` of autocannon sends all requests of a second at once.
 */
export async function pacedLoad(job: LoadJob): Promise<LoadResult> {
  const perSecond = Number(job.requestsPerSecond);
  const origin = String(job.origins[0]);
  const agent = new Agent({ keepAlive: true, maxSockets: job.connections });
  const requests = requestsOf(job.request, perSecond * job.seconds);
  const answers: Promise<number>[] = [];
  const startedAt = performance.now();
  while (answers.length < requests.length) {
    const due = Math.min(requests.length, ((performance.now() - startedAt) / 1000) * perSecond);
    for (const request of requests.slice(answers.length, due)) answers.push(ask(origin, agent, request));
    await pause(1);
  }
  const latenciesMs = await Promise.all(answers);
  const elapsedSeconds = (performance.now() - startedAt) / 1000;
  agent.destroy();
  return summary(latenciesMs, elapsedSeconds);
}

/** Milliseconds until the answer is complete, including the wait for a free connection. Rejects unless it is 2xx. */
function ask(origin: string, agent: Agent, { method, path, headers, body }: PlainRequest): Promise<number> {
  const sentAt = performance.now();
  return new Promise((resolve, reject) => {
    const sent = open(`${origin}${path}`, { method, headers, agent }, (response) => {
      const status = Number(response.statusCode);
      response.on('error', reject);
      response.on('end', () => {
        if (status >= 200 && status < 300) resolve(performance.now() - sentAt);
        else reject(new Error(`an answer was ${status}`));
      });
      response.resume();
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
