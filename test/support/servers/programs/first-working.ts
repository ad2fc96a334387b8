import { Unsuitable } from './oldest-versions.js';

/** A way to get a server. */
export interface Place<T> {
  name: string;
  /** How a person can make this place available. */
  advice: string;
  /** Returns whether `find` works without a download. Without it: unknown, and the order of the places counts. */
  isAtHand?(): boolean;
  /** Rejects with the reason when there is no server, with `Unsuitable` when the tests cannot use it. */
  find(): Promise<T>;
}

const told = new Set<string>();

/** Returns the result of the first place that has a server. Rejects with each place's reason and advice. */
export async function firstWorking<T>(product: string, places: Place<T>[]): Promise<T> {
  // Servers on the machine come before downloads, so that only the first run needs a network.
  const atHand = places.filter((place) => place.isAtHand?.() ?? true);
  const failures: string[] = [];
  for (const place of [...atHand, ...places.filter((place) => !atHand.includes(place))]) {
    try {
      return await place.find();
    } catch (error) {
      const reason = (error as Error).message.trim();
      if (error instanceof Unsuitable) tellOnce(`The tests do not use the ${place.name}: ${reason}\n`);
      failures.push(`- ${place.name}: ${reason.replaceAll('\n', '\n    ')}\n  → ${place.advice}`);
    }
  }
  throw new Error(`No ${product} server for the tests. Tried:\n${failures.join('\n')}`);
}

function tellOnce(line: string): void {
  if (told.has(line)) return;
  told.add(line);
  process.stderr.write(line);
}
