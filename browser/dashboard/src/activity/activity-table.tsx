import { Moment } from '../elements/moment.js';
import type { ActPartsFragment } from '../graphql/generated.js';
import { requestsPath } from '../requests/request-filter.js';
import { Link } from '../routing/link.js';
import { factsOf, inWords } from './action-in-words.js';

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** The acts with their actors and times, newest first. */
export function ActivityTable({ acts }: { acts: readonly ActPartsFragment[] }) {
  return (
    <table className="stacked activity">
      <caption className="unseen">Acts, newest first</caption>
      <thead>
        <tr>
          <th scope="col">Act</th>
          <th scope="col">Who</th>
          <th scope="col">When</th>
          <th scope="col">Request</th>
        </tr>
      </thead>
      <tbody>
        {acts.map((act) => {
          const { verb, object } = inWords(act);
          return (
            <tr key={act.id}>
              <th scope="row" data-head="Act">
                <span className="act">
                  <span>
                    {verb.charAt(0).toUpperCase() + verb.slice(1)} <bdi className="act-object">{object}</bdi>
                  </span>
                  <span className="act-facts">
                    {factsOf(act).map(({ name, value }) => (
                      <span key={name}>
                        {name} {TIME.test(value) ? <Moment at={value} isExact /> : <bdi>{value}</bdi>}
                      </span>
                    ))}
                  </span>
                </span>
              </th>
              <td data-head="Who">
                <bdi>{act.actor}</bdi>
              </td>
              <td data-head="When">
                <Moment at={act.at} />
              </td>
              <td data-head="Request" className={act.requestId === null ? 'no-request' : undefined}>
                {act.requestId === null ? (
                  <span className="muted">none</span>
                ) : (
                  <Link to={requestsPath({ requestId: act.requestId })} className="act-request">
                    Show<span className="unseen"> the request {act.requestId}</span>
                  </Link>
                )}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
