import { Notice } from '../elements/notice.js';
import type { RequestFilter } from '../graphql/generated.js';
import type { RequestPage } from './newest-page.js';
import { showRequests } from './request-filter.js';

interface Props {
  page: RequestPage;
  filter: RequestFilter;
}

/** Says why the list is empty. */
export function NoRequests({ page, filter }: Props) {
  if (!page.isOn) {
    return (
      <Notice tone="info" title="This gateway keeps no log of requests.">
        <p>
          Its operator has set <code>REQUEST_LOG=off</code>. The overview still counts the requests by key,
          operation, API and status.
        </p>
      </Notice>
    );
  }
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <div className="empty">
      <p className="empty-title">{isFiltered ? 'No request matches these filters' : 'No request yet'}</p>
      {isFiltered ? (
        <>
          <p className="muted">New requests that match appear here automatically.</p>
          <button type="button" onClick={() => showRequests({})}>
            Show all requests
          </button>
        </>
      ) : (
        <p className="muted">
          A request with a key of this project appears here two seconds after its answer.
        </p>
      )}
    </div>
  );
}
