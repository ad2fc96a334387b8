import { jsonFrom, numberFrom } from '../../database/columns.js';
import type { Database } from '../../database/database.js';
import type { Diagnosis } from '../diagnosis/diagnosis.js';
import { DomainEvent } from './domain-event.entity.js';

interface Row {
  domainId: string | bigint;
  id: string | bigint;
  atMs: string | bigint;
  name: string;
  message: string;
  diagnoses: string;
}

// The scalar subquery checks the project and runs once, so the rows are read by the index, from the newest.
const OF_ONE = `SELECT domain_id AS domainId, id, at_ms AS atMs, name, message, diagnoses FROM domain_events
  WHERE domain_id = (SELECT domains.id FROM domains WHERE domains.id = ? AND domains.project_id = ?)
  ORDER BY domain_events.id DESC LIMIT ?`;

/** The newest events of the project's domains, newest first; `counts` gives the number for each domain. One statement. */
export async function newestEvents(
  db: Database,
  projectId: bigint,
  counts: ReadonlyMap<bigint, number>,
): Promise<Map<bigint, DomainEvent[]>> {
  const selects = [...counts].map(([id, count]) => ({ sql: OF_ONE, values: [id, projectId, count] }));
  const found = new Map<bigint, DomainEvent[]>();
  for (const row of await db.union<Row>(selects)) {
    const event = eventOf(row);
    const ofDomain = found.get(event.domainId);
    if (ofDomain) ofDomain.push(event);
    else found.set(event.domainId, [event]);
  }
  for (const events of found.values()) events.sort((a, b) => (a.id < b.id ? 1 : -1));
  return found;
}

/** TypeORM's `create` would copy each finding, of which there may be 10,000. */
function eventOf({ domainId, id, atMs, diagnoses, ...texts }: Row): DomainEvent {
  return Object.assign(new DomainEvent(), {
    domainId: BigInt(domainId),
    id: BigInt(id),
    atMs: numberFrom(atMs) as number,
    diagnoses: jsonFrom<Diagnosis[]>(diagnoses),
    ...texts,
  });
}
