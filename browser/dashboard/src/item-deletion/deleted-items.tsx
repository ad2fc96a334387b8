import { useMutation, useQuery } from '@apollo/client/react';
import { type ReactNode, useState } from 'react';
import { headOf, type NounDescription } from '../../../nouns.js';
import { Dialog } from '../elements/dialog.js';
import { Moment } from '../elements/moment.js';
import { tellDone } from '../elements/toaster.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { newIdempotencyKey } from '../graphql/idempotency-key.js';
import { type Item, textIn } from '../items/item.js';
import { documentsOf, type TrashDocuments } from '../items/item-documents.js';

interface Props {
  noun: NounDescription;
  documents: TrashDocuments;
  mayRestore: boolean;
  onClose: () => void;
}

/** The items that can be restored, the last deleted one first. */
export function DeletedItems({ noun, documents, mayRestore, onClose }: Props) {
  const { data, loading, error, refetch, fetchMore } = useQuery(documents.deleted, {
    variables: { after: null },
    fetchPolicy: 'network-only',
  });
  const { nodes = [], pageInfo } = data?.page ?? {};
  const more = () =>
    void fetchMore({
      variables: { after: pageInfo?.endCursor },
      updateQuery: (known, { fetchMoreResult: { page } }) => ({
        page: { ...page, nodes: [...known.page.nodes, ...page.nodes] },
      }),
    }).catch(() => undefined);
  return (
    <Dialog title={`Deleted ${noun.plural}`} isWide onClose={onClose}>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!error && nodes.length === 0 && (
        <p>{loading ? 'Loading…' : `No ${noun.singular} was deleted in the last 30 days.`}</p>
      )}
      {nodes.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable with the keyboard.
        <section className="refused-scroll" tabIndex={0} aria-label={`Deleted ${noun.plural}`}>
          <table className="stacked">
            <thead>
              <tr>
                <th scope="col">{headOf(noun).label}</th>
                <th scope="col">Deleted</th>
                <th scope="col">Restorable until</th>
                {mayRestore && (
                  <th scope="col">
                    <span className="unseen">Actions</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {nodes.map(({ item, deletedAt, restorableUntil }) => (
                <Deleted
                  key={item.id}
                  noun={noun}
                  item={item}
                  documents={mayRestore ? documents : null}
                  onDone={() => void refetch()}
                >
                  <td data-head="Deleted">
                    <Moment at={deletedAt} />
                  </td>
                  <td data-head="Restorable until">
                    <Moment at={restorableUntil} />
                  </td>
                </Deleted>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <div className="actions">
        {pageInfo?.hasNextPage && (
          <button type="button" disabled={loading} onClick={more}>
            Show more
          </button>
        )}
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

interface DeletedProps extends Pick<Props, 'noun'> {
  item: Item;
  /** Null = the key may not restore it. */
  documents: TrashDocuments | null;
  onDone: () => void;
  children: ReactNode;
}

/** The row of an item, and below it the refusal of its restoration: a sentence has no room in the cell of a button. */
function Deleted({ noun, item, documents, onDone, children }: DeletedProps) {
  const [refusal, setRefusal] = useState<unknown>(null);
  const head = headOf(noun);
  return (
    <>
      <tr>
        <th scope="row" data-head={head.label}>
          <bdi>{textIn(item, head)}</bdi> <code>{item.id}</code>
        </th>
        {children}
        {documents && (
          <td className="row-acts">
            <Restore noun={noun} documents={documents} item={item} onDone={onDone} onRefused={setRefusal} />
          </td>
        )}
      </tr>
      {refusal ? (
        <tr className="row-notice">
          <td colSpan={4}>
            <ErrorNotice error={refusal} />
          </td>
        </tr>
      ) : null}
    </>
  );
}

interface RestoreProps extends Pick<Props, 'noun' | 'documents'> {
  item: Item;
  onDone: () => void;
  /** Null = it is tried again. */
  onRefused: (error: unknown) => void;
}

function Restore({ noun, documents, item, onDone, onRefused }: RestoreProps) {
  const name = textIn(item, headOf(noun));
  // A repetition after a lost answer succeeds too.
  const [key] = useState(newIdempotencyKey);
  const [restore, { loading }] = useMutation(documents.restore, {
    variables: { id: item.id },
    context: { headers: { 'idempotency-key': key } },
    refetchQueries: [documentsOf(noun).list],
    onError: onRefused,
  });
  const submit = async () => {
    onRefused(null);
    const answer = await restore().catch(() => null);
    if (!answer?.data) return;
    onDone();
    tellDone(
      <>
        Restored <bdi>{name}</bdi>, id {item.id}.
      </>,
    );
  };
  return (
    <button
      type="button"
      className="small"
      aria-label={`Restore ${name}`}
      disabled={loading}
      onClick={() => void submit()}
    >
      Restore
    </button>
  );
}
