import { useQuery } from '@apollo/client/react';
import { Loading } from '../elements/loading.js';
import { Notice } from '../elements/notice.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { refusalOf } from '../errors/refusal.js';
import { PetsDocument } from '../graphql/generated.js';
import { NoPets } from './no-pets.js';
import { ALL_PETS, type Browsing, browseTo, nextPage, orderOf, previousPage } from './pet-browsing.js';
import { type PetActs, PetTable } from './pet-table.js';

const PAGE_SIZE = 25;

interface Props {
  browsing: Browsing;
  /** The pet that was just added; null = none. */
  addedId: string | null;
  /** Null = the key may not change pets. */
  acts: PetActs | null;
  onAdd: () => void;
}

export function PetList({ browsing, addedId, acts, onAdd }: Props) {
  const { status, nameStartsWith, after } = browsing;
  const { data, previousData, loading, error, refetch } = useQuery(PetsDocument, {
    variables: { first: PAGE_SIZE, after, status, nameStartsWith, orderBy: orderOf(browsing) },
    // A page that was read before is shown from the cache at once, and updated if it has changed.
    fetchPolicy: 'cache-and-network',
  });
  const shown = (data ?? previousData)?.pets;
  if (error && !data) {
    return refusalOf(error)?.code === 'INVALID_REQUEST' ? (
      <NoSuchPage />
    ) : (
      <ErrorNotice error={error} onRetry={() => void refetch().catch(() => {})} />
    );
  }
  if (!shown) return <Loading what="the pets" count={8} />;
  if (shown.nodes.length === 0 && !loading) {
    return <NoPets browsing={browsing} mayAdd={acts !== null} onAdd={onAdd} />;
  }
  const { endCursor, hasNextPage } = shown.pageInfo;
  return (
    <>
      <PetTable pets={shown.nodes} isBusy={data === undefined} addedId={addedId} acts={acts} />
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

/** The URL has an invalid cursor: a retry is useless. */
function NoSuchPage() {
  return (
    <Notice tone="bad" title="This address names no page of the list." isUrgent>
      <p>It was cut short, or belongs to another search.</p>
      <button type="button" onClick={() => browseTo(ALL_PETS)}>
        Show the first page
      </button>
    </Notice>
  );
}
