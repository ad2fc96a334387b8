import { useQuery } from '@apollo/client/react';
import { Dialog } from '../elements/dialog.js';
import { Loading } from '../elements/loading.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { PetCountDocument } from '../graphql/generated.js';
import type { PetSelection } from '../pets/pet-browsing.js';
import { currentExport } from './export-card.js';
import { PAGE_SIZE } from './read-pages.js';
import { StartTask } from './start-task.js';

interface Props {
  /** The order is always from the oldest pet on, or by name. */
  selection: PetSelection;
  onClose: () => void;
}

/** The gateway counts no further. */
const MAX_COUNT = 100_000;

/** Shows what an export of the list costs, and starts it. */
export function ExportPets({ selection, onClose }: Props) {
  const { status, nameStartsWith } = selection;
  const isPart = status !== null || nameStartsWith !== null;
  return (
    <Dialog title={isPart ? 'Export the pets of this list' : 'Export all pets'} onClose={onClose}>
      {currentExport.use() ? (
        <p>An export is running: see the corner of the page.</p>
      ) : (
        <Offer selection={selection} onClose={onClose} />
      )}
    </Dialog>
  );
}

function Offer({ selection, onClose }: Props) {
  const { status, nameStartsWith } = selection;
  const { data, error, refetch } = useQuery(PetCountDocument, {
    variables: { status, nameStartsWith },
    fetchPolicy: 'no-cache',
  });
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch().catch(() => {})} />;
  if (!data) return <Loading what="the number of pets" count={2} />;
  const { petCount } = data;
  const counted = (count: number) => {
    const isMore = count === petCount && petCount === MAX_COUNT;
    return `${isMore ? 'at least ' : ''}${count === 1 ? '1 pet' : `${count.toLocaleString()} pets`}`;
  };
  const start = (count: number) => {
    const isUnknown = count === petCount && petCount === MAX_COUNT;
    // Names that are added meanwhile can stand before others, so a whole list may take a page more.
    const pages = Math.ceil(count / PAGE_SIZE) + (count === petCount ? 1 : 0);
    currentExport.set({ selection, total: count, maxPages: isUnknown ? Number.POSITIVE_INFINITY : pages });
    onClose();
  };
  return (
    <>
      <p>
        {petCount === 1 ? 'There is' : 'There are'} {counted(petCount)} to export, as a CSV file.
      </p>
      <StartTask
        verb="Export"
        work={{ count: petCount, perUnit: PAGE_SIZE, unitsPerRequest: 1 }}
        counted={counted}
        onStart={start}
        onClose={onClose}
      />
    </>
  );
}
