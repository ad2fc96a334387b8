import { useState } from 'react';
import { usePlace } from '../routing/location.js';
import { Page } from '../routing/page.js';
import { NeedsScope } from '../session/needs-scope.js';
import { useSession } from '../session/signed-in.js';
import { ExportRequests } from './export-requests.js';
import { requestFilterOf } from './request-filter.js';
import { RequestFilters } from './request-filters.js';
import { RequestLog } from './request-log.js';

export function RequestsPage() {
  const { apiKey } = useSession();
  const filter = requestFilterOf(usePlace());
  const [isExporting, setExporting] = useState(false);
  return (
    <Page
      title="Requests"
      actions={
        apiKey.scopes.includes('KEYS') && (
          <button type="button" onClick={() => setExporting(true)}>
            Export CSV
          </button>
        )
      }
    >
      <NeedsScope scope="KEYS" to="see the requests of the project">
        <RequestLog filter={filter} filters={<RequestFilters filter={filter} />} />
        {isExporting && <ExportRequests filter={filter} onClose={() => setExporting(false)} />}
      </NeedsScope>
    </Page>
  );
}
