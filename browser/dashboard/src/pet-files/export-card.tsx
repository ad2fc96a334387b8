import { useApolloClient } from '@apollo/client/react';
import { useEffect, useRef, useState } from 'react';
import { tellDone } from '../elements/toaster.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { useBlock } from '../errors/use-block.js';
import { Progress } from '../files/progress.js';
import { datedName, saveFile } from '../files/save-file.js';
import { TaskCard } from '../files/task-card.js';
import { useTask } from '../files/use-task.js';
import type { PetSelection } from '../pets/pet-browsing.js';
import { useSession } from '../session/signed-in.js';
import { createStore } from '../store.js';
import { PETS_HEADER, petLine } from './pet-line.js';
import { PAGE_SIZE, readPages } from './read-pages.js';

interface Export {
  selection: PetSelection;
  /** How many pets the list had at the start, at most. */
  total: number;
  maxPages: number;
}

/** The export of this tab; null = none. */
export const currentExport = createStore<Export | null>(null);

/** Reads the pets of a list, page by page, while the dashboard is used, and saves them as a file. */
export function ExportCard({ selection, total, maxPages }: Export) {
  const client = useApolloClient();
  const { project } = useSession();
  const [count, setCount] = useState(0);
  const task = useTask(async (tools) => {
    const lines = [PETS_HEADER];
    for await (const pets of readPages(client, selection, { ...tools, maxPages })) {
      lines.push(...pets.map(petLine));
      setCount(lines.length - 1);
    }
    saveFile(datedName(`pets-${project.slug}`, Date.now()), lines);
    tellDone(`Exported ${(lines.length - 1).toLocaleString()} pets.`);
    currentExport.set(null);
  });
  const { isBlocked, countdown } = useBlock(task.error);
  const begin = useRef(task.start);
  useEffect(() => begin.current(), []);
  return (
    <TaskCard label="Export of pets" title="Exporting pets">
      <Progress
        label="Export of pets"
        share={
          Number.isFinite(maxPages)
            ? Math.min(1, count / Math.max(1, Math.min(total, maxPages * PAGE_SIZE)))
            : null
        }
        text={`${count.toLocaleString()} pets read`}
        wait={task.wait}
      />
      {task.error ? <ErrorNotice error={task.error} /> : null}
      <div className="actions">
        {task.state === 'failed' && (
          <button type="button" className="small primary" disabled={isBlocked} onClick={task.start}>
            Try again{countdown}
          </button>
        )}
        <button type="button" className="small" onClick={() => currentExport.set(null)}>
          Cancel export
        </button>
      </div>
    </TaskCard>
  );
}
