import { type Contestant, startFloor } from './contestant.js';
import { type PlainRequest, requestsOf } from './load-job.js';
import { type Measured, measureInTurns, type Pace, type Subject } from './measure.js';
import { answerTo } from './requests.js';
import { withContestants } from './row.js';

/**
 * Measures the subjects in turns with the floor, which is the last of the results: a bare `node:http` that sends the
 * answer of the first subject from a constant.
 */
export async function measureAboveFloor(subjects: readonly Subject[], pace: Pace): Promise<Measured[]> {
  const [{ job }] = subjects as [Subject];
  // It answers faster than different requests can be prepared, and reads none of them.
  const [{ body = null, ...request }] = requestsOf(job.request, 1) as [PlainRequest];
  const repeated = { ...request, body, method: job.request.method, positions: null };
  const answer = await answerTo(String(job.origins[0]), repeated);
  return withContestants([startFloor(answer)], (started) => {
    const [{ name, origin, processId }] = started as [Contestant];
    const floor = { name, processIds: [processId], job: { ...job, origins: [origin], request: repeated } };
    return measureInTurns([...subjects, floor], pace);
  });
}
