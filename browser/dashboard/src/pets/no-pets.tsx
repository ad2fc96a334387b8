import { ALL_PETS, type Browsing, browseTo } from './pet-browsing.js';

interface Props {
  browsing: Browsing;
  mayAdd: boolean;
  onAdd: () => void;
}

/** Says why the list is empty, and offers the next step. */
export function NoPets({ browsing, mayAdd, onAdd }: Props) {
  const { status, nameStartsWith, after } = browsing;
  const isPart = after !== null || status !== null || nameStartsWith !== null;
  return (
    <div className="empty">
      <p className="empty-title">{title(browsing)}</p>
      {nameStartsWith !== null && (
        <p className="muted">
          Only the start of the name is compared. Upper and lower case, accents and blanks differ.
        </p>
      )}
      {isPart ? (
        <button type="button" onClick={() => browseTo(ALL_PETS)}>
          Show all pets
        </button>
      ) : mayAdd ? (
        <button type="button" onClick={onAdd}>
          Add the first pet
        </button>
      ) : (
        <p>A key with the scope pets:write can add one.</p>
      )}
    </div>
  );
}

function title({ status, nameStartsWith, after }: Browsing) {
  if (after !== null) return 'No more pets';
  if (nameStartsWith === null) return status ? `No pet is ${status}` : 'No pet yet';
  return (
    <>
      No {status ? `${status} pet` : 'pet'} has a name that starts with “<bdi>{nameStartsWith}</bdi>”
    </>
  );
}
