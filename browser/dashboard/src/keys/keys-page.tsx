import { useQuery } from '@apollo/client/react';
import { useState } from 'react';
import { Loading } from '../elements/loading.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { ApiKeysDocument } from '../graphql/generated.js';
import { Page } from '../routing/page.js';
import { NeedsScope } from '../session/needs-scope.js';
import { useSession } from '../session/signed-in.js';
import { CreateKey } from './create-key.js';
import { KeyTable } from './key-table.js';

export function KeysPage() {
  const { apiKey } = useSession();
  const [isCreating, setCreating] = useState(false);
  return (
    <Page
      title="API keys"
      actions={
        apiKey.scopes.includes('KEYS') && (
          <button type="button" className="primary" onClick={() => setCreating(true)}>
            Create key
          </button>
        )
      }
    >
      <NeedsScope scope="KEYS" to="see or change API keys">
        <p className="lead">
          All keys of a project share its quota. A key is shown only once, when it is created.
        </p>
        <Keys />
        {isCreating && <CreateKey onClose={() => setCreating(false)} />}
      </NeedsScope>
    </Page>
  );
}

function Keys() {
  const { data, error, refetch } = useQuery(ApiKeysDocument, { fetchPolicy: 'cache-and-network' });
  if (data) return <KeyTable keys={data.apiKeys} />;
  if (!error) return <Loading what="the API keys" />;
  return <ErrorNotice error={error} onRetry={() => void refetch().catch(() => {})} />;
}
