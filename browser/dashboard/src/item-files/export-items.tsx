import { useQuery } from '@apollo/client/react';
import { Dialog } from '../elements/dialog.js';
import { Loading } from '../elements/loading.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { counted as countedItems } from '../items/item.js';
import { documentsOf, type ItemDocuments } from '../items/item-documents.js';
import { type Selection, variablesOf } from '../items/selection.js';
import { currentExport } from './export-card.js';
import { PAGE_SIZE } from './read-pages.js';
import { StartTask } from './start-task.js';

interface Props {
  /** The order is always from the oldest item on, or by a text. */
  selection: Selection;
  onClose: () => void;
}

/** The gateway counts no further. */
const MAX_COUNT = 100_000;

/** Shows what an export of the list costs, and starts it. */
export function ExportItems({ selection, onClose }: Props) {
  const { noun, filters } = selection;
  const { count } = documentsOf(noun);
  const isPart = Object.keys(filters).length > 0;
  return (
    <Dialog
      title={isPart ? `Export the ${noun.plural} of this list` : `Export all ${noun.plural}`}
      onClose={onClose}
    >
      {currentExport.use() ? (
        <p>An export is running: see the corner of the page.</p>
      ) : count ? (
        <CountedOffer count={count} selection={selection} onClose={onClose} />
      ) : (
        <Offer selection={selection} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface CountedProps extends Props {
  count: NonNullable<ItemDocuments['count']>;
}

function CountedOffer({ count: document, selection, onClose }: CountedProps) {
  const { noun } = selection;
  const { data, error, refetch } = useQuery(document, {
    variables: variablesOf(selection),
    fetchPolicy: 'no-cache',
  });
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch().catch(() => {})} />;
  if (!data) return <Loading what={`the number of ${noun.plural}`} count={2} />;
  const { count: total } = data;
  const isUnknown = (count: number) => count === total && total === MAX_COUNT;
  const counted = (count: number) => `${isUnknown(count) ? 'at least ' : ''}${countedItems(noun, count)}`;
  const start = (count: number) => {
    // Names that are added meanwhile can stand before others, so a whole list may take a page more.
    const pages = Math.ceil(count / PAGE_SIZE) + (count === total ? 1 : 0);
    const maxPages = isUnknown(count) ? Number.POSITIVE_INFINITY : pages;
    currentExport.set({ selection, total: count, maxPages });
    onClose();
  };
  return (
    <>
      <p>
        {total === 1 ? 'There is' : 'There are'} {counted(total)} to export, as a CSV file.
      </p>
      <StartTask
        verb="Export"
        work={{ count: total, perUnit: PAGE_SIZE, unitsPerRequest: 1 }}
        counted={counted}
        onStart={start}
        onClose={onClose}
      />
    </>
  );
}

/** For a noun that GraphQL does not count. */
function Offer({ selection, onClose }: Props) {
  const { plural } = selection.noun;
  const start = () => {
    const { POSITIVE_INFINITY: unknown } = Number;
    currentExport.set({ selection, total: unknown, maxPages: unknown });
    onClose();
  };
  return (
    <>
      <p>
        The list is exported to its end, as a CSV file. Every {PAGE_SIZE} {plural} cost one unit of the plan.
      </p>
      <div className="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" className="primary" onClick={start}>
          Export {plural}
        </button>
      </div>
    </>
  );
}
