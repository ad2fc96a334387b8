import { Moment } from '../elements/moment.js';
import type { PetPartsFragment } from '../graphql/generated.js';

interface Props {
  pets: readonly PetPartsFragment[];
  /** Another page is loading. */
  isBusy: boolean;
  onEdit: ((pet: PetPartsFragment) => void) | null;
}

const TONES = { available: 'good', pending: 'busy', sold: 'idle' } as const;

export function PetTable({ pets, isBusy, onEdit }: Props) {
  return (
    <table className="stacked pets" aria-busy={isBusy}>
      <caption className="unseen">Pets, oldest first</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Status</th>
          <th scope="col">Category</th>
          <th scope="col">Id</th>
          <th scope="col">Added</th>
          {onEdit && (
            <th scope="col">
              <span className="unseen">Actions</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {pets.map((pet) => (
          <tr key={pet.id}>
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
            {onEdit && (
              <td className="row-acts">
                <button
                  type="button"
                  className="small"
                  aria-label={`Edit ${pet.name}`}
                  onClick={() => onEdit(pet)}
                >
                  Edit
                </button>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
