import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { ConcurrencyLimit, LoadWatch } from '../../src/request/overload/concurrency-limit.js';

const ANSWER_MS = 200;

let nowMs: number;
let limit: ConcurrencyLimit;
let watch: LoadWatch;
beforeEach(() => {
  nowMs = 1_000;
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  limit = new ConcurrencyLimit();
  const takeCounts = () => ({ inFlight: 500, refused: 0 });
  watch = new LoadWatch(limit, () => 0, takeCounts);
});
afterEach(() => {
  watch.stop();
  jest.restoreAllMocks();
});

/** Requests that arrive in one iteration of the event loop, so that no timer runs between them. */
function readRequests(forMs: number): void {
  for (const endsAtMs = nowMs + forMs; nowMs < endsAtMs; nowMs += 1) {
    watch.wake();
    limit.noteAnswer(nowMs - ANSWER_MS, nowMs);
  }
}

test('Overload-28: a flood that lets no timer run begins the limit within a second and a half', () => {
  readRequests(900);
  expect(limit.isEnforced).toBe(false);
  readRequests(600);
  expect(limit.isEnforced).toBe(true);
});
