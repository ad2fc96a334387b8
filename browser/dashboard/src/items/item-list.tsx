import { useQuery } from '@apollo/client/react';
import type { NounDescription } from '../../../nouns.js';
import { Loading } from '../elements/loading.js';
import { Notice } from '../elements/notice.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { refusalOf } from '../errors/refusal.js';
import {
  type Browsing,
  browseTo,
  nextPage,
  orderOf,
  previousPage,
  variablesOf,
  wholeListOf,
} from './browsing.js';
import { documentsOf } from './item-documents.js';
import { type ItemActs, ItemTable } from './item-table.js';
import { NoItems } from './no-items.js';

const PAGE_SIZE = 25;

interface Props {
  browsing: Browsing;
  /** The item that was just added; null = none. */
  addedId: string | null;
  /** Null = the key may not change items. */
  acts: ItemActs | null;
  onAdd: () => void;
}

export function ItemList({ browsing, addedId, acts, onAdd }: Props) {
  const { noun, after } = browsing;
  const { data, previousData, loading, error, refetch } = useQuery(documentsOf(noun).list, {
    variables: { first: PAGE_SIZE, after, ...variablesOf(browsing), orderBy: orderOf(browsing) },
    // A page that was read before is shown from the cache at once, and updated if it has changed.
    fetchPolicy: 'cache-and-network',
  });
  const shown = (data ?? previousData)?.page;
  if (error && !data) {
    return refusalOf(error)?.code === 'INVALID_REQUEST' ? (
      <NoSuchPage noun={noun} />
    ) : (
      <ErrorNotice error={error} onRetry={() => void refetch().catch(() => {})} />
    );
  }
  if (!shown) return <Loading what={`the ${noun.plural}`} count={8} />;
  if (shown.nodes.length === 0 && !loading) {
    return <NoItems browsing={browsing} mayAdd={acts !== null} onAdd={onAdd} />;
  }
  const { endCursor, hasNextPage } = shown.pageInfo;
  return (
    <>
      <ItemTable noun={noun} items={shown.nodes} isBusy={data === undefined} addedId={addedId} acts={acts} />
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
function NoSuchPage({ noun }: { noun: NounDescription }) {
  return (
    <Notice tone="bad" title="This address names no page of the list." isUrgent>
      <p>It was cut short, or belongs to another search.</p>
      <button type="button" onClick={() => browseTo(wholeListOf(noun))}>
        Show the first page
      </button>
    </Notice>
  );
}
