import { HAMMERING_MS } from './charges.js';

/** Sends requests that are refused, ten a second by the clock of the gateway, until one answers that the key is banned. */
export async function hammered<T>(
  clock: { now: number },
  send: () => Promise<T>,
  isBanned: (answer: T) => boolean,
): Promise<T[]> {
  const answers: T[] = [];
  while (answers.length < 100) {
    const answer = await send();
    answers.push(answer);
    if (isBanned(answer)) return answers;
    clock.now += HAMMERING_MS;
  }
  throw new Error('never banned');
}
