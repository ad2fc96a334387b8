import { useMutation } from '@apollo/client/react';
import { type FormEvent, useMemo, useState } from 'react';
import { Dialog } from '../elements/dialog.js';
import { Field } from '../elements/field.js';
import { FormActions } from '../elements/form-actions.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { fieldProblem } from '../errors/in-words.js';
import {
  CreatePetDocument,
  type PetPartsFragment,
  type PetStatus,
  PetsDocument,
  UpdatePetDocument,
} from '../graphql/generated.js';
import { newIdempotencyKey } from '../graphql/idempotency-key.js';
import { PET_STATUSES } from './pet-browsing.js';

interface Props {
  /** Null = a new pet. */
  pet: PetPartsFragment | null;
  onSaved: (pet: PetPartsFragment) => void;
  onClose: () => void;
}

const INTEGER = /^-?\d{1,19}$/;

export function PetEditor({ pet, onSaved, onClose }: Props) {
  const [name, setName] = useState(pet?.name ?? '');
  const [categoryId, setCategoryId] = useState(pet?.categoryId ?? '');
  const [status, setStatus] = useState<PetStatus | ''>(pet ? (pet.status ?? '') : 'available');
  const [isTried, setTried] = useState(false);
  // The same content sent again after a lost answer adds no second pet.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another content needs another key.
  const key = useMemo(newIdempotencyKey, [name, categoryId, status]);
  const options = { refetchQueries: [PetsDocument], context: { headers: { 'idempotency-key': key } } };
  const [create, creating] = useMutation(CreatePetDocument, options);
  const [update, updating] = useMutation(UpdatePetDocument, options);
  const error = creating.error ?? updating.error;
  const isBusy = creating.loading || updating.loading;
  const nameProblem = name.trim() === '' ? 'Enter a name.' : null;
  const categoryProblem = INTEGER.test(categoryId.trim()) ? null : 'A category is an integer, such as 3.';

  const hasFieldProblem = ['name', 'categoryId'].some((field) => fieldProblem(error, field) !== null);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (nameProblem || categoryProblem) return;
    const input = { name: name.trim(), categoryId: categoryId.trim(), status: status === '' ? null : status };
    const saved = pet
      ? (await update({ variables: { id: pet.id, input } }).catch(() => null))?.data?.updatePet
      : (await create({ variables: { input } }).catch(() => null))?.data?.createPet;
    if (!saved) return;
    onSaved(saved);
    onClose();
  };

  return (
    <Dialog
      title={
        pet ? (
          <>
            Edit <bdi>{pet.name}</bdi>
          </>
        ) : (
          'Add a pet'
        )
      }
      onClose={onClose}
    >
      <form onSubmit={submit} noValidate>
        <Field label="Name" problem={(isTried ? nameProblem : null) ?? fieldProblem(error, 'name')}>
          {(described) => (
            <input
              {...described}
              value={name}
              maxLength={255}
              autoComplete="off"
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <Field
          label="Category"
          hint="The number of its category."
          problem={(isTried ? categoryProblem : null) ?? fieldProblem(error, 'categoryId')}
        >
          {(described) => (
            <input
              {...described}
              value={categoryId}
              inputMode="numeric"
              autoComplete="off"
              onChange={(event) => setCategoryId(event.target.value)}
            />
          )}
        </Field>
        <Field label="Status">
          {(described) => (
            <select
              {...described}
              value={status}
              onChange={(event) => setStatus(event.target.value as PetStatus | '')}
            >
              <option value="">Not set</option>
              {PET_STATUSES.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          )}
        </Field>
        {error && !hasFieldProblem && <ErrorNotice error={error} />}
        <FormActions
          submit={pet ? 'Save' : 'Add pet'}
          submitting="Saving…"
          isBusy={isBusy}
          error={error}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
