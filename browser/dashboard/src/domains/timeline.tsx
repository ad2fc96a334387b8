import { Moment } from '../elements/moment.js';
import type { DomainDetailFragment } from '../graphql/generated.js';

export function Timeline({ events }: { events: DomainDetailFragment['timeline'] }) {
  return (
    <section className="card" aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      <ol className="timeline">
        {events.map(({ at, name, message }) => (
          <li key={`${at} ${name} ${message}`}>
            <p>{message}</p>
            <p className="muted">
              <Moment at={at} /> <code>{name}</code>
            </p>
          </li>
        ))}
      </ol>
    </section>
  );
}
