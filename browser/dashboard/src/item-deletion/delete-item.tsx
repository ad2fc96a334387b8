import { useMutation } from '@apollo/client/react';
import { useState } from 'react';
import { headOf, type NounDescription } from '../../../nouns.js';
import { Confirmation } from '../elements/confirmation.js';
import { tellDone } from '../elements/toaster.js';
import { refusalOf } from '../errors/refusal.js';
import { newIdempotencyKey } from '../graphql/idempotency-key.js';
import { type Item, textIn } from '../items/item.js';
import { documentsOf } from '../items/item-documents.js';

interface Props {
  noun: NounDescription;
  item: Item;
  onDeleted: () => void;
  onClose: () => void;
}

/** Asks before it deletes: an item that is added again would have another id. */
export function DeleteItem({ noun, item, onDeleted, onClose }: Props) {
  const { list, remove: document } = documentsOf(noun);
  const name = textIn(item, headOf(noun));
  // A repetition after a lost answer succeeds too.
  const [key] = useState(newIdempotencyKey);
  const [remove, { loading, error }] = useMutation(document, {
    variables: { id: item.id },
    context: { headers: { 'idempotency-key': key } },
    update: (cache) => {
      cache.evict({ id: cache.identify(item) as string });
      cache.gc();
    },
    refetchQueries: [list],
  });
  const confirm = async () => {
    const answer = await remove().catch((refused) => refused);
    const isGone = answer?.data || refusalOf(answer)?.code === 'NOT_FOUND';
    if (!isGone) return;
    onDeleted();
    onClose();
    tellDone(
      <>
        Deleted <bdi>{name}</bdi>, id {item.id}.
      </>,
    );
  };
  return (
    <Confirmation
      title={
        <>
          Delete <bdi>{name}</bdi>?
        </>
      }
      verb={`Delete ${noun.singular}`}
      isBusy={loading}
      error={error}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>
        The {noun.singular} with the id <code>{item.id}</code>{' '}
        {noun.hasTrash ? 'is hidden, and can be restored for 30 days' : 'is deleted for good'}. Clients that
        ask for it get <code>NOT_FOUND</code>, and no other {noun.singular} gets its id.
      </p>
    </Confirmation>
  );
}
