import { type Contestant, startFloor } from './contestant.js';
import { type LoadJob, type PlainRequest, type RequestTemplate, requestsOf } from './load-job.js';
import { type Measured, measureInTurns, type Pace, type Subject } from './measure.js';
import { answerTo } from './requests.js';
import { withContestants } from './row.js';

/**
 * Measures the subjects in turns with the floor, which is the last of the results: a bare `node:http` that sends the
 * answer of the first subject from a constant.
 */
export function measureAboveFloor(subjects: readonly Subject[], pace: Pace): Promise<Measured[]> {
  const [{ job }] = subjects as [Subject];
  return withFloor(job, ({ name, origin, processId }, request) => {
    const floor = { name, processIds: [processId], job: { ...job, origins: [origin], request } };
    return measureInTurns([...subjects, floor], pace);
  });
}

/** Works with a floor that sends the answer to the request of the job, and with a request for it. */
export async function withFloor<T>(
  { origins: [origin], request: template }: Pick<LoadJob, 'origins' | 'request'>,
  work: (floor: Contestant, repeated: RequestTemplate) => Promise<T>,
): Promise<T> {
  // It answers faster than different requests can be prepared, and reads none of them.
  const [{ body = null, ...request }] = requestsOf(template, 1) as [PlainRequest];
  const repeated = { ...request, body, method: template.method, positions: null };
  const answer = await answerTo(String(origin), repeated);
  return withContestants([startFloor(answer)], ([floor]) => work(floor as Contestant, repeated));
}
