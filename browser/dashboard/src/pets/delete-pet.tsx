import { useMutation } from '@apollo/client/react';
import { useState } from 'react';
import { Confirmation } from '../elements/confirmation.js';
import { tellDone } from '../elements/toaster.js';
import { refusalOf } from '../errors/refusal.js';
import { DeletePetDocument, type PetPartsFragment, PetsDocument } from '../graphql/generated.js';
import { newIdempotencyKey } from '../graphql/idempotency-key.js';

interface Props {
  pet: PetPartsFragment;
  onDeleted: () => void;
  onClose: () => void;
}

/** Asks before it deletes: a pet that is added again would have another id. */
export function DeletePet({ pet, onDeleted, onClose }: Props) {
  // A repetition after a lost answer succeeds too.
  const [key] = useState(newIdempotencyKey);
  const [remove, { loading, error }] = useMutation(DeletePetDocument, {
    variables: { id: pet.id },
    context: { headers: { 'idempotency-key': key } },
    update: (cache) => {
      cache.evict({ id: cache.identify(pet) as string });
      cache.gc();
    },
    refetchQueries: [PetsDocument],
  });
  const confirm = async () => {
    const answer = await remove().catch((refused) => refused);
    const isGone = answer?.data || refusalOf(answer)?.code === 'NOT_FOUND';
    if (!isGone) return;
    onDeleted();
    onClose();
    tellDone(
      <>
        Deleted <bdi>{pet.name}</bdi>, id {pet.id}.
      </>,
    );
  };
  return (
    <Confirmation
      title={
        <>
          Delete <bdi>{pet.name}</bdi>?
        </>
      }
      verb="Delete pet"
      isBusy={loading}
      error={error}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>
        The pet with the id <code>{pet.id}</code> is deleted for good. Clients that ask for it get{' '}
        <code>NOT_FOUND</code>, and no other pet gets its id.
      </p>
    </Confirmation>
  );
}
