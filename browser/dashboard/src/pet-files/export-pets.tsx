import { useApolloClient } from '@apollo/client/react';
import { useEffect, useRef, useState } from 'react';
import { Dialog } from '../elements/dialog.js';
import { tellDone } from '../elements/toaster.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { useBlock } from '../errors/use-block.js';
import { Progress } from '../files/progress.js';
import { datedName, saveFile } from '../files/save-file.js';
import { useTask } from '../files/use-task.js';
import type { PetSelection } from '../pets/pet-browsing.js';
import { useSession } from '../session/signed-in.js';
import { PETS_HEADER, petLine } from './pet-line.js';
import { readPages } from './read-pages.js';

interface Props {
  /** The order is always from the oldest pet on, or by name. */
  selection: PetSelection;
  onClose: () => void;
}

/** Reads the pets of the list, page by page, and saves them as a file. */
export function ExportPets({ selection: { status, nameStartsWith }, onClose }: Props) {
  const client = useApolloClient();
  const { project } = useSession();
  const [progress, setProgress] = useState<{ count: number; share: number | null }>({
    count: 0,
    share: null,
  });
  const task = useTask(async (tools) => {
    const lines = [PETS_HEADER];
    for await (const { pets, share } of readPages(client, { status, nameStartsWith }, tools)) {
      lines.push(...pets.map(petLine));
      setProgress({ count: lines.length - 1, share });
    }
    saveFile(datedName(`pets-${project.slug}`, Date.now()), lines);
    tellDone(`Exported ${(lines.length - 1).toLocaleString()} pets.`);
    onClose();
  });
  const { isBlocked, countdown } = useBlock(task.error);
  const begin = useRef(task.start);
  useEffect(() => begin.current(), []);
  const isPart = status !== null || nameStartsWith !== null;
  return (
    <Dialog
      title={isPart ? 'Export the pets of this list' : 'Export all pets'}
      onClose={onClose}
      isPinned={task.state === 'running'}
    >
      {task.error ? (
        <ErrorNotice error={task.error} />
      ) : (
        <Progress
          label="Export of pets"
          share={progress.share}
          text={`${progress.count.toLocaleString()} pets read`}
          wait={task.wait}
        />
      )}
      <div className="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        {task.state === 'failed' && (
          <button type="button" className="primary" disabled={isBlocked} onClick={task.start}>
            Try again{countdown}
          </button>
        )}
      </div>
    </Dialog>
  );
}
