import { beforeEach, describe, expect, test } from '@jest/globals';
import { ConcurrencyLimit, type Window } from '../../src/request/overload/concurrency-limit.js';

const WINDOW_MS = 100;

let limit: ConcurrencyLimit;
let nowMs: number;
beforeEach(() => {
  limit = new ConcurrencyLimit();
  nowMs = 1_000;
});

interface Load extends Partial<Window> {
  answers?: number;
  answerMs?: number;
}

/** Windows, of 100 ms unless told, in which requests are answered after `answerMs`. */
function run(windows: number, { answers = 300, answerMs = 5, ...window }: Load): void {
  for (let turn = 0; turn < windows; turn += 1) {
    nowMs += window.lengthMs ?? WINDOW_MS;
    for (let answer = 0; answer < answers; answer += 1) limit.noteAnswer(nowMs - answerMs, nowMs);
    limit.endWindow({
      endsAtMs: nowMs,
      lengthMs: WINDOW_MS,
      inFlight: 0,
      refused: 0,
      loopDelayMs: 0,
      queuedWork: 0,
      ...window,
    });
  }
}

const POOL = { answers: 300, answerMs: 400, inFlight: 1_200, queuedWork: 50 };
const LOOP = { answers: 1_000, answerMs: 2, loopDelayMs: 1_000 };

describe('before an overload', () => {
  test('Overload-1: there is no limit, however many requests are in flight, while the answers are fast', () => {
    run(100, { inFlight: 9_000, answerMs: 50, queuedWork: 100, loopDelayMs: 50 });
    expect(limit.value).toBe(Number.POSITIVE_INFINITY);
  });

  test('Overload-2: slow answers alone are no overload: the event loop or the pool must confirm it', () => {
    run(100, { ...POOL, queuedWork: 0 });
    expect(limit.isEnforced).toBe(false);
  });

  test('Overload-3: a burst of less than a second is no overload', () => {
    for (let burst = 0; burst < 20; burst += 1) {
      run(9, POOL);
      run(1, {});
      run(9, LOOP);
      run(1, {});
    }
    expect(limit.isEnforced).toBe(false);
  });

  test('Overload-25: one long pause of the process is no overload, a second one is', () => {
    const pause = { ...LOOP, lengthMs: 3_000 };
    for (let turn = 0; turn < 5; turn += 1) {
      run(1, pause);
      run(2, {});
    }
    expect(limit.isEnforced).toBe(false);
    run(2, pause);
    expect(limit.isEnforced).toBe(true);
  });

  test('Overload-4: a few slow requests are no overload', () => {
    run(100, { answers: 6, answerMs: 900, inFlight: 60, queuedWork: 50 });
    expect(limit.isEnforced).toBe(false);
  });

  test('Overload-5: with a floor of 200 ms, answers after 350 ms are no overload', () => {
    run(50, { answers: 100, answerMs: 200, inFlight: 200 });
    run(50, { answers: 100, answerMs: 350, inFlight: 350, queuedWork: 50 });
    expect(limit.isEnforced).toBe(false);
  });
});

describe('during an overload', () => {
  test.each([
    ['the pool', POOL, 180],
    ['the event loop', LOOP, 600],
  ])(
    'Overload-6: after a second of queueing for %s the limit is what is answered in the tolerated time',
    (_, load, most) => {
      run(9, load);
      expect(limit.isEnforced).toBe(false);
      run(1, load);
      expect(limit.value).toBeCloseTo(most, -1);
    },
  );

  test('Overload-7: the limit falls while requests queue, and not below 32', () => {
    run(11, POOL);
    run(10, { ...POOL, answers: 100 });
    expect(limit.value).toBeLessThan(180);
    run(1_000, { ...POOL, answers: 1 });
    expect(limit.value).toBe(32);
  });

  test('Overload-8: the limit does not fall below what is answered in time: refusals may take the time', () => {
    run(11, LOOP);
    run(100, { ...LOOP, refused: 500 });
    expect(limit.value).toBeCloseTo(200, -1);
  });

  test('Overload-29: requests wait 20 ms under the limit, a third of the wait that begins it', () => {
    run(10, POOL);
    expect(limit.value).toBeCloseTo(180, -1);
    run(20, { ...POOL, answerMs: 50, refused: 100 });
    expect(limit.value).toBeCloseTo(60, -1);
  });

  test('Overload-9: the limit rises while requests are refused and the answers are fast', () => {
    run(11, POOL);
    const before = limit.value;
    run(10, { answers: 300, answerMs: 20, refused: 100 });
    expect(limit.value).toBeGreaterThan(1.3 * before);
  });

  test('Overload-10: the limit is dropped a second after the last refusal', () => {
    run(15, { ...POOL, refused: 100 });
    run(9, { answers: 10 });
    expect(limit.isEnforced).toBe(true);
    run(2, { answers: 10 });
    expect(limit.isEnforced).toBe(false);
  });

  test('Overload-11: a database that answers nothing is an overload too', () => {
    run(12, { answers: 0, inFlight: 200, queuedWork: 50 });
    expect(limit.value).toBe(32);
  });
});
