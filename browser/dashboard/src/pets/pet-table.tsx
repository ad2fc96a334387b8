import { Trash2 } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { Moment } from '../elements/moment.js';
import { Tooltip } from '../elements/tooltip.js';
import type { PetPartsFragment } from '../graphql/generated.js';

/** The acts that the key allows on a pet. */
export interface PetActs {
  edit: (pet: PetPartsFragment) => void;
  /** `isOnly`: the page has no other pet. */
  remove: (pet: PetPartsFragment, isOnly: boolean) => void;
}

interface Props {
  pets: readonly PetPartsFragment[];
  /** Another page is loading. */
  isBusy: boolean;
  /** This pet is marked and scrolled into view. */
  addedId: string | null;
  acts: PetActs | null;
}

const TONES = { available: 'good', pending: 'busy', sold: 'idle' } as const;

export function PetTable({ pets, isBusy, addedId, acts }: Props) {
  const added = useRef<HTMLTableRowElement>(null);
  const isShown = pets.some(({ id }) => id === addedId);
  useEffect(() => {
    if (isShown) added.current?.scrollIntoView({ block: 'nearest' });
  }, [isShown]);
  return (
    <table className="stacked pets" aria-busy={isBusy}>
      <caption className="unseen">Pets</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Status</th>
          <th scope="col">Category</th>
          <th scope="col">Id</th>
          <th scope="col">Added</th>
          {acts && (
            <th scope="col">
              <span className="unseen">Actions</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {pets.map((pet) => (
          <tr
            key={pet.id}
            ref={pet.id === addedId ? added : undefined}
            className={pet.id === addedId ? 'added' : undefined}
          >
            <th scope="row" data-head="Name">
              <bdi>{pet.name}</bdi>
            </th>
            <td data-head="Status">
              {pet.status ? (
                <span className={`badge badge-${TONES[pet.status]}`}>{pet.status}</span>
              ) : (
                <span className="muted">not set</span>
              )}
            </td>
            <td data-head="Category" className="whole">
              {pet.categoryId}
            </td>
            <td data-head="Id">
              <code>{pet.id}</code>
            </td>
            <td data-head="Added">
              <Moment at={pet.createdAt} />
            </td>
            {acts && (
              <td className="row-acts">
                <span className="pet-acts">
                  <button
                    type="button"
                    className="small"
                    aria-label={`Edit ${pet.name}`}
                    onClick={() => acts.edit(pet)}
                  >
                    Edit
                  </button>
                  <Tooltip content="Delete">
                    <button
                      type="button"
                      className="quiet icon small"
                      aria-label={`Delete ${pet.name}`}
                      onClick={() => acts.remove(pet, pets.length === 1)}
                    >
                      <Trash2 size={16} aria-hidden="true" />
                    </button>
                  </Tooltip>
                </span>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
