import { dataTemplate, runSqlServer, type SqlEngine, type SqlServer } from './sql-server.js';

/** One way to come by a server program. */
export interface Place {
  name: string;
  /** What a person can do so that this place has one. */
  advice: string;
  /** True when `engine` needs no download. */
  isAtHand(): boolean;
  /** Rejects with the reason when there is none. */
  engine(): Promise<SqlEngine>;
}

/** Starts the server of the first place that has one that works. Rejects with each place's reason and advice. */
export async function startFirstWorking(
  product: string,
  places: Place[],
  args?: string[],
): Promise<SqlServer> {
  // What is on the machine goes before what must be downloaded, so that only the first run needs a network.
  const atHand = places.filter((place) => place.isAtHand());
  const failures: string[] = [];
  for (const place of [...atHand, ...places.filter((place) => !atHand.includes(place))]) {
    const found = await findIn(place);
    if ('failure' in found) failures.push(found.failure);
    else return runSqlServer(found.engine, found.template, args);
  }
  throw new Error(`No ${product} server for the tests. Tried:\n${failures.join('\n')}`);
}

async function findIn(place: Place): Promise<{ engine: SqlEngine; template: string } | { failure: string }> {
  try {
    const engine = await place.engine();
    return { engine, template: await dataTemplate(engine) };
  } catch (error) {
    const reason = (error as Error).message.trim().replaceAll('\n', '\n    ');
    return { failure: `- ${place.name}: ${reason}\n  → ${place.advice}` };
  }
}
