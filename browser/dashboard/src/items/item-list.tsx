import type { NounDescription } from '../../../nouns.js';
import { Loading } from '../elements/loading.js';
import { Notice } from '../elements/notice.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { refusalOf } from '../errors/refusal.js';
import { type Browsing, browseTo, nextPage, previousPage, wholeListOf } from './browsing.js';
import { type ItemActs, ItemTable } from './item-table.js';
import { NoItems } from './no-items.js';
import type { ItemListState } from './use-item-list.js';

interface Props {
  list: ItemListState;
  browsing: Browsing;
  /** The item that was just added; null = none. */
  addedId: string | null;
  /** Null = the key may only see items. */
  acts: ItemActs | null;
  onAdd: () => void;
}

export function ItemList({ list, browsing, addedId, acts, onAdd }: Props) {
  const { noun, after } = browsing;
  const { page, isStale, isLoading, error, reload, changedIds } = list;
  if (error && isStale) {
    return refusalOf(error)?.code === 'INVALID_REQUEST' ? (
      <NoSuchPage noun={noun} />
    ) : (
      <ErrorNotice error={error} onRetry={() => void reload()} />
    );
  }
  if (!page) return <Loading what={`the ${noun.plural}`} count={8} />;
  const { endCursor, hasNextPage } = page.pageInfo;
  if (page.nodes.length === 0 && !hasNextPage && !isLoading) {
    return <NoItems browsing={browsing} mayAdd={acts?.edit != null} onAdd={onAdd} />;
  }
  const goOn = async () => {
    // Rows that were added since are in the place of the last ones: only a new answer has the cursor.
    const cursor = endCursor ?? (await reload())?.pageInfo.endCursor;
    if (cursor) browseTo(nextPage(browsing, cursor));
  };
  return (
    <>
      <ItemTable
        browsing={browsing}
        items={page.nodes}
        isBusy={isStale}
        addedId={addedId}
        changedIds={changedIds}
        acts={acts}
      />
      <nav className="pager" aria-label="Pages of the list">
        <button type="button" disabled={after === null} onClick={() => browseTo(previousPage(browsing))}>
          Previous
        </button>
        <span className="muted" role="status">
          {isStale ? 'Loading the page…' : `Page ${after === null ? 1 : browsing.trail.length + 2}`}
        </span>
        <button type="button" disabled={!hasNextPage || isStale} onClick={() => void goOn()}>
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
