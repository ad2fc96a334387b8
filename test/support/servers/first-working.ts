import { Unsuitable } from './oldest-versions.js';

/** One way to come by a server. */
export interface Place<T> {
  name: string;
  /** What a person can do so that this place has one. */
  advice: string;
  /** True when `find` needs no download. Without it: unknown, and the order of the places counts. */
  isAtHand?(): boolean;
  /** Rejects with the reason when there is none, with `Unsuitable` when there is one that the tests cannot use. */
  find(): Promise<T>;
}

const told = new Set<string>();

/** What the first place answers that has one. Rejects with each place's reason and advice. */
export async function firstWorking<T>(product: string, places: Place<T>[]): Promise<T> {
  // What is on the machine goes before what must be downloaded, so that only the first run needs a network.
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
