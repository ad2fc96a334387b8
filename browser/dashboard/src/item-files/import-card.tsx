import { useApolloClient } from '@apollo/client/react';
import { Download } from 'lucide-react';
import { useEffect, useReducer, useRef, useState } from 'react';
import { ErrorNotice } from '../errors/error-notice.js';
import { useBlock } from '../errors/use-block.js';
import { Progress, Waiting } from '../files/progress.js';
import { TaskCard } from '../files/task-card.js';
import { useTask } from '../files/use-task.js';
import { counted } from '../items/item.js';
import { documentsOf } from '../items/item-documents.js';
import {
  catchUp,
  currentImport,
  forgetImport,
  type ImportJob,
  saveProgress,
  whileAlone,
} from './import-job.js';
import { saveRefused } from './refused-rows.js';
import { recordImport, sendItems } from './send-items.js';

/** An import that runs while the dashboard is used, and what became of it. */
export function ImportCard({ job }: { job: ImportJob }) {
  const client = useApolloClient();
  const [, draw] = useReducer((drawn: number) => drawn + 1, 0);
  const [isElsewhere, setElsewhere] = useState(false);
  const [isStopping, setStopping] = useState(false);
  const isContinued = useRef(false);
  const task = useTask(
    async ({ signal, onWait }) => {
      const later = setTimeout(() => setElsewhere(true), 500);
      await whileAlone(job, signal, async () => {
        clearTimeout(later);
        setElsewhere(false);
        await catchUp(job);
        if (isContinued.current && job.state === 'paused' && currentImport.get() === job)
          job.state = 'running';
        isContinued.current = false;
        if (job.state !== 'running') return;
        await sendItems(client, job, { signal, onWait, onProgress: draw });
        job.state = 'over';
        await saveProgress(job);
      }).finally(() => {
        clearTimeout(later);
        void client.refetchQueries({ include: [documentsOf(job.file.noun).list] });
      });
    },
    { outlivesPage: true },
  );
  const { isBlocked, countdown } = useBlock(task.error);
  const begin = useRef(job.state === 'running' ? task.start : null);
  useEffect(() => begin.current?.(), []);
  const isRunning = task.state === 'running';
  const proceed = () => {
    isContinued.current = true;
    setStopping(false);
    task.start();
  };
  const end = async (state: 'paused' | 'over') => {
    setStopping(true);
    if (!isRunning) await catchUp(job);
    job.state = state;
    void saveProgress(job);
    task.stop();
    draw();
  };
  const { file, total, added, done } = job;
  const { noun } = file;
  if (job.state === 'over' && !isRunning) return <Ended job={job} />;
  return (
    <TaskCard
      label={`Import of ${noun.plural}`}
      title={
        <>
          {isRunning ? 'Importing' : 'Paused:'} <bdi>{file.name}</bdi>
        </>
      }
    >
      <Progress
        label={`Import of ${noun.plural}`}
        share={done / total}
        text={`${added.toLocaleString()} of ${counted(noun, total)} imported`}
        wait={task.wait}
      />
      {isElsewhere && isRunning && <p className="muted">Another tab imports it.</p>}
      {task.error ? <ErrorNotice error={task.error} /> : null}
      <div className="actions" hidden={isElsewhere && isRunning}>
        {isRunning ? (
          <button type="button" className="small" disabled={isStopping} onClick={() => void end('paused')}>
            {isStopping ? 'Stopping…' : 'Pause'}
          </button>
        ) : (
          <button type="button" className="small primary" disabled={isBlocked} onClick={proceed}>
            Continue{countdown}
          </button>
        )}
        <button
          type="button"
          className="small"
          disabled={isRunning && isStopping}
          onClick={() => void end('over')}
        >
          Cancel import
        </button>
      </div>
    </TaskCard>
  );
}

function Ended({ job }: { job: ImportJob }) {
  const client = useApolloClient();
  const { file, added, done, refused } = job;
  const { noun } = file;
  const recording = useTask((tools) => recordImport(client, job, tools), { outlivesPage: true });
  const record = useRef(recording.start);
  useEffect(() => record.current(), []);
  const unsent = file.items.slice(done).map((item) => item.refused('was not sent'));
  const rows = [...file.refused, ...refused, ...unsent].sort((a, b) => a.line - b.line);
  return (
    <TaskCard
      label={`Import of ${noun.plural}`}
      title={<span role="status">Imported {counted(noun, added)}.</span>}
      onDismiss={() => void forgetImport(job)}
    >
      {rows.length > 0 && (
        <>
          <p>
            {rows.length === 1
              ? '1 row was not imported.'
              : `${rows.length.toLocaleString()} rows were not imported.`}{' '}
            {unsent.length > 0 ? 'Import their file later.' : 'Correct them, and import their file.'}
          </p>
          <div className="actions">
            <button type="button" className="small" onClick={() => saveRefused(file, rows)}>
              <Download size={15} aria-hidden="true" />
              Download the other rows
            </button>
          </div>
        </>
      )}
      {recording.wait && (
        <p className="muted">
          Activity does not show this import yet. <Waiting wait={recording.wait} />
        </p>
      )}
      {recording.error ? (
        <>
          <p>Activity does not show this import:</p>
          <ErrorNotice error={recording.error} />
        </>
      ) : null}
    </TaskCard>
  );
}
