import { useQuery } from '@apollo/client/react';
import { Loading } from '../elements/loading.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { refusalOf } from '../errors/refusal.js';
import { type PetPartsFragment, PetsDocument } from '../graphql/generated.js';
import { type Browsing, browseTo, nextPage, previousPage } from './pet-browsing.js';
import { PetTable } from './pet-table.js';

const PAGE_SIZE = 25;

interface Props {
  browsing: Browsing;
  /** Null = the key may not change pets. */
  onEdit: ((pet: PetPartsFragment) => void) | null;
  onAdd: () => void;
}

export function PetList({ browsing, onEdit, onAdd }: Props) {
  const { status, after } = browsing;
  const { data, previousData, loading, error, refetch } = useQuery(PetsDocument, {
    variables: { first: PAGE_SIZE, after, status },
    // A page that was read before is shown from the cache at once, and updated if it has changed.
    fetchPolicy: 'cache-and-network',
  });
  const shown = (data ?? previousData)?.pets;
  const toStart = () => browseTo({ status: null, after: null, trail: [] });
  if (error && !data) {
    // The URL has an invalid cursor: a retry is useless.
    const isLost = refusalOf(error)?.code === 'INVALID_REQUEST';
    return (
      <ErrorNotice
        error={error}
        retry={isLost ? 'Show the first page' : 'Try again'}
        onRetry={() => (isLost ? toStart() : void refetch().catch(() => {}))}
      />
    );
  }
  if (!shown) return <Loading what="the pets" />;
  if (shown.nodes.length === 0 && !loading) {
    return (
      <div className="empty">
        <p className="empty-title">
          {after ? 'No more pets' : status ? `No pet is ${status}` : 'No pet yet'}
        </p>
        {after || status ? (
          <button type="button" onClick={toStart}>
            Show all pets
          </button>
        ) : onEdit ? (
          <button type="button" onClick={onAdd}>
            Add the first pet
          </button>
        ) : (
          <p>A key with the scope pets:write can add one.</p>
        )}
      </div>
    );
  }
  const { endCursor, hasNextPage } = shown.pageInfo;
  return (
    <>
      <PetTable pets={shown.nodes} isBusy={data === undefined} onEdit={onEdit} />
      <nav className="pager" aria-label="Pages of the list">
        <button type="button" disabled={after === null} onClick={() => browseTo(previousPage(browsing))}>
          Previous
        </button>
        <span className="muted" role="status">
          {data === undefined
            ? 'Loading the page…'
            : `Page ${after === null ? 1 : browsing.trail.length + 2}`}
        </span>
        <button
          type="button"
          disabled={!hasNextPage || data === undefined}
          onClick={() => endCursor && browseTo(nextPage(browsing, endCursor))}
        >
          Next
        </button>
      </nav>
    </>
  );
}
