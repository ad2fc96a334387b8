import { useQuery } from '@apollo/client/react';
import { useState } from 'react';
import { NOUN_WORDS } from '../../../gateway.js';
import { Choice } from '../elements/choice.js';
import { Loading } from '../elements/loading.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { useBlock } from '../errors/use-block.js';
import { ActivityDocument, ApiKeysDocument, type AuditEventFilter } from '../graphql/generated.js';
import { go, type Place, usePlace } from '../routing/location.js';
import { Page } from '../routing/page.js';
import { NeedsScope } from '../session/needs-scope.js';
import { KINDS } from './action-in-words.js';
import { ActivityTable } from './activity-table.js';

const PAGE_SIZE = 50;

/** The acts that changed the project, its keys and its domains. */
export function ActivityPage() {
  const { kind, keyId } = filterOf(usePlace());
  return (
    <Page title="Activity">
      <NeedsScope scope="KEYS" to="see the acts of the project">
        <p className="lead">
          Who changed the project, its keys and its domains. Requests for {NOUN_WORDS} are not acts.
        </p>
        <Filters filter={{ kind, keyId }} />
        <Acts key={`${kind} ${keyId}`} filter={{ kind, keyId }} />
      </NeedsScope>
    </Page>
  );
}

/** The URL has the filter, so that a reload and a shared link show the same. */
function filterOf({ query }: Place): AuditEventFilter {
  return {
    kind: KINDS.find(({ value }) => value === query.get('kind'))?.value,
    keyId: query.get('keyId') ?? undefined,
  };
}

function show(filter: AuditEventFilter): void {
  const given = Object.entries(filter).filter((entry): entry is [string, string] => Boolean(entry[1]));
  go(`/activity${given.length > 0 ? `?${new URLSearchParams(given)}` : ''}`);
}

function Filters({ filter }: { filter: AuditEventFilter }) {
  const { data } = useQuery(ApiKeysDocument);
  const keys = (data?.apiKeys ?? []).map(({ id, name, prefix }) => ({
    value: id,
    label: `${name} (${prefix}…)`,
  }));
  return (
    <div className="filters activity-filters">
      <Choice
        label="What"
        all="All acts"
        value={filter.kind}
        choices={KINDS}
        onChange={(kind) => show({ ...filter, kind })}
      />
      <Choice
        label="Who"
        all="Everybody"
        value={filter.keyId}
        choices={keys}
        onChange={(keyId) => show({ ...filter, keyId })}
      />
    </div>
  );
}

function Acts({ filter }: { filter: AuditEventFilter }) {
  const variables = { first: PAGE_SIZE, after: null, filter };
  const { data, error, refetch, fetchMore } = useQuery(ActivityDocument, {
    variables,
    // The newest acts each time; further pages follow them.
    fetchPolicy: 'network-only',
  });
  const [older, setOlder] = useState<{ isLoading: boolean; error: unknown }>({
    isLoading: false,
    error: null,
  });
  const { isBlocked, countdown } = useBlock(older.error);
  if (!data) {
    if (error) return <ErrorNotice error={error} onRetry={() => void refetch().catch(() => {})} />;
    return <Loading what="the acts" count={8} />;
  }
  const { nodes, pageInfo } = data.project.auditEvents;
  if (nodes.length === 0) {
    const isFiltered = Object.values(filter).some(Boolean);
    return (
      <div className="empty">
        <p className="empty-title">{isFiltered ? 'No act matches these filters' : 'No act yet'}</p>
        {isFiltered ? (
          <button type="button" onClick={() => show({})}>
            Show all acts
          </button>
        ) : (
          <p className="muted">Creating a key or adding a domain appears here.</p>
        )}
      </div>
    );
  }
  const load = async () => {
    setOlder({ isLoading: true, error: null });
    try {
      await fetchMore({
        variables: { after: pageInfo.endCursor },
        updateQuery: (known, { fetchMoreResult: { project } }) => ({
          project: {
            ...project,
            auditEvents: {
              ...project.auditEvents,
              nodes: [...known.project.auditEvents.nodes, ...project.auditEvents.nodes],
            },
          },
        }),
      });
      setOlder({ isLoading: false, error: null });
    } catch (refused) {
      setOlder({ isLoading: false, error: refused });
    }
  };
  return (
    <>
      <ActivityTable acts={nodes} />
      {pageInfo.hasNextPage ? (
        <div className="older">
          {older.error ? <ErrorNotice error={older.error} /> : null}
          <button type="button" disabled={older.isLoading || isBlocked} onClick={() => void load()}>
            {older.isLoading ? 'Loading older acts…' : 'Load older acts'}
            {countdown}
          </button>
        </div>
      ) : (
        <p className="muted list-end">No older acts.</p>
      )}
    </>
  );
}
