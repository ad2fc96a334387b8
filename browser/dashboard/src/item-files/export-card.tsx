import { useApolloClient } from '@apollo/client/react';
import { useEffect, useRef, useState } from 'react';
import { tellDone } from '../elements/toaster.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { useBlock } from '../errors/use-block.js';
import { Progress } from '../files/progress.js';
import { datedName, saveFile } from '../files/save-file.js';
import { TaskCard } from '../files/task-card.js';
import { useTask } from '../files/use-task.js';
import type { Selection } from '../items/selection.js';
import { useSession } from '../session/signed-in.js';
import { createStore } from '../store.js';
import { headerLineOf, itemLineOf } from './item-line.js';
import { PAGE_SIZE, readPages } from './read-pages.js';

interface Export {
  selection: Selection;
  /** How many items the list had at the start, at most. */
  total: number;
  maxPages: number;
}

/** The export of this tab; null = none. */
export const currentExport = createStore<Export | null>(null);

/** Reads the items of a list, page by page, while the dashboard is used, and saves them as a file. */
export function ExportCard({ selection, total, maxPages }: Export) {
  const { noun } = selection;
  const { plural } = noun;
  const client = useApolloClient();
  const { project } = useSession();
  const [count, setCount] = useState(0);
  const task = useTask(async (tools) => {
    const lines = [headerLineOf(noun)];
    for await (const items of readPages(client, selection, { ...tools, maxPages })) {
      lines.push(...items.map((item) => itemLineOf(noun, item)));
      setCount(lines.length - 1);
    }
    saveFile(datedName(`${plural}-${project.slug}`, Date.now()), lines);
    tellDone(`Exported ${(lines.length - 1).toLocaleString()} ${plural}.`);
    currentExport.set(null);
  });
  const { isBlocked, countdown } = useBlock(task.error);
  const begin = useRef(task.start);
  useEffect(() => begin.current(), []);
  return (
    <TaskCard label={`Export of ${plural}`} title={`Exporting ${plural}`}>
      <Progress
        label={`Export of ${plural}`}
        share={
          Number.isFinite(maxPages)
            ? Math.min(1, count / Math.max(1, Math.min(total, maxPages * PAGE_SIZE)))
            : null
        }
        text={`${count.toLocaleString()} ${plural} read`}
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
