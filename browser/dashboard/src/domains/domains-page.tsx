import { useQuery } from '@apollo/client/react';
import { useCallback, useState } from 'react';
import { Loading } from '../elements/loading.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { type DomainStatus, DomainsDocument } from '../graphql/generated.js';
import { LOOK_ANYWAY_MS, useLive } from '../live/use-live.js';
import { Page } from '../routing/page.js';
import { NeedsScope } from '../session/needs-scope.js';
import { useSession } from '../session/signed-in.js';
import { AddDomain } from './add-domain.js';
import { DomainConditions, mayHaveDomains } from './domain-conditions.js';
import { DomainList } from './domain-list.js';
import { RoutingEditor } from './routing-editor.js';

const SETTLED: readonly DomainStatus[] = ['ACTIVE', 'SUSPENDED', 'EXPIRED'];
const LOOK_MS = 15_000;

export function DomainsPage() {
  const { apiKey, project } = useSession();
  const [isAdding, setAdding] = useState(false);
  const canAdd = apiKey.scopes.includes('DOMAINS') && mayHaveDomains(project);
  return (
    <Page
      title="Domains"
      actions={
        canAdd && (
          <button type="button" className="primary" onClick={() => setAdding(true)}>
            Add domain
          </button>
        )
      }
    >
      <NeedsScope scope="DOMAINS" to="see or change domains">
        <DomainConditions />
        <Domains onAdd={canAdd ? () => setAdding(true) : null} />
        {isAdding && <AddDomain onClose={() => setAdding(false)} />}
      </NeedsScope>
    </Page>
  );
}

function Domains({ onAdd }: { onAdd: (() => void) | null }) {
  const { data, error, refetch } = useQuery(DomainsDocument, { fetchPolicy: 'cache-and-network' });
  const isMoving = data?.domains.some(({ status }) => !SETTLED.includes(status)) ?? false;
  const look = useCallback(() => refetch(), [refetch]);
  useLive(look, isMoving ? LOOK_MS : LOOK_ANYWAY_MS, { waitsFirst: true, updates: 'DOMAINS' });

  if (error && !data) return <ErrorNotice error={error} onRetry={() => void refetch().catch(() => {})} />;
  if (!data) return <Loading what="the domains" />;
  if (data.domains.length === 0) {
    return (
      <div className="empty">
        <p className="empty-title">No domain yet</p>
        <p>
          The project is available at its generated address.
          {onAdd && ' Add your own domain, such as shop.example.com.'}
        </p>
        {onAdd && (
          <button type="button" onClick={onAdd}>
            Add the first domain
          </button>
        )}
      </div>
    );
  }
  return (
    <div className="columns columns-even">
      <div>
        <DomainList domains={data.domains} />
      </div>
      <div>
        <RoutingEditor domains={data.domains} />
      </div>
    </div>
  );
}
