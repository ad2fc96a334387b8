import { expect, test } from '@jest/globals';
import { callAs } from '../support/call-as.js';
import { eventually } from '../support/eventually.js';
import { onEachDatabase } from '../support/on-databases.js';

const DAY_MS = 24 * 3_600_000;
const LOCK_MS = 10_000;
const TEXT = { write: String, read: String };
const CONFLICT = expect.objectContaining({ code: 'conflict', retryAfterSeconds: 1 });

onEachDatabase((app) => {
  /** Returns a function that makes the next attempt with the same key. */
  async function newKey() {
    const { caller } = callAs(await app().tenant());
    const attempt = { caller, key: { text: 'key', onReplay: () => {} }, operation: 'test', input: [] };
    return (work: () => Promise<string>) => app().app.services.idempotency.once(attempt, work, TEXT);
  }
  const lost = () => Promise.reject(new Error('the outcome is lost'));

  test('Idempotency-22: a fault frees the key at once', async () => {
    const attempt = await newKey();
    await expect(attempt(lost)).rejects.toThrow('the outcome is lost');
    expect(await attempt(async () => 'done')).toBe('done');
    expect(await attempt(lost)).toBe('done');
  });

  test('Idempotency-23: of ten retries after a lost attempt one proceeds', async () => {
    const attempt = await newKey();
    await expect(attempt(lost)).rejects.toThrow();
    const seen = { started: 0, refused: 0 };
    const isDecided = () => seen.started + seen.refused === 10;
    const retries = Array.from({ length: 10 }, () =>
      attempt(async () => {
        seen.started += 1;
        await eventually('the other retries are decided', isDecided);
        return 'done';
      }).catch((error) => {
        seen.refused += 1;
        return error;
      }),
    );
    const answers = await Promise.all(retries);
    expect(answers.filter((answer) => answer === 'done')).toHaveLength(1);
    for (const answer of answers) if (answer !== 'done') expect(answer).toEqual(CONFLICT);
  });

  test('Idempotency-24: an attempt that never ends holds the key for 10 s, and then stores nothing', async () => {
    const attempt = await newKey();
    await attempt(async () => {
      app().clock.now += LOCK_MS - 1;
      await expect(attempt(lost)).rejects.toEqual(CONFLICT);
      app().clock.now += 1;
      await attempt(async () => 'second');
      return 'first';
    });
    expect(await attempt(lost)).toBe('second');
  });

  test('Idempotency-25: an attempt after 24 hours has its own 24 hours', async () => {
    const attempt = await newKey();
    expect(await attempt(async () => 'first')).toBe('first');
    app().clock.now += DAY_MS;
    expect(await attempt(async () => 'done')).toBe('done');
    app().clock.now += DAY_MS - 1;
    expect(await attempt(lost)).toBe('done');
    app().clock.now += 1;
    await expect(attempt(lost)).rejects.toThrow('the outcome is lost');
  });

  test('Idempotency-27: attempts of two projects with the same key at the same time store their own results', async () => {
    const [one, other] = [await newKey(), await newKey()];
    await one(async () => {
      await other(async () => 'other');
      return 'one';
    });
    expect([await one(lost), await other(lost)]).toEqual(['one', 'other']);
  });
});
